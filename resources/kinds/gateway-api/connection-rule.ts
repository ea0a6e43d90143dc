import * as z from 'zod';
import { backendRef } from './backend-ref.ts';
import { sectionName } from './names.ts';

const rule = z.object({
  name: sectionName.exactOptional().describe('Its name'),
  backendRefs: z
    .array(backendRef)
    .min(1)
    .max(16)
    .meta({ form: 'a list of 1 to 16 backends' })
    .describe('Who gets the connections'),
});

/** The one rule of a route for connections. */
export const connectionRules = z
  .array(rule)
  .min(1)
  .max(1)
  .meta({ form: 'a list of one rule' })
  .describe('Where connections go');

export type ConnectionRule = z.output<typeof rule>;
