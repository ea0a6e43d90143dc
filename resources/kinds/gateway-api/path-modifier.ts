import * as z from 'zod';
import { checkRules, choiceBreaches } from './rules.ts';

/** Envoy takes no line break, since it would end a header. */
const path = z
  .string()
  .max(1024)
  .regex(/^[^\0\r\n]*$/)
  .meta({ form: 'a path of at most 1024 characters in one line' });

/** How the path of a redirect or of a rewritten request is made. */
export const pathModifier = z
  .object({
    type: z.enum(['ReplaceFullPath', 'ReplacePrefixMatch']).describe('What is replaced'),
    replaceFullPath: path.exactOptional().describe('The whole new path'),
    replacePrefixMatch: path.exactOptional().describe('What replaces the prefix that matched'),
  })
  .check(
    checkRules(value =>
      choiceBreaches(value, {
        ReplaceFullPath: 'replaceFullPath',
        ReplacePrefixMatch: 'replacePrefixMatch',
      }),
    ),
  );

export type PathModifier = z.output<typeof pathModifier>;
