import * as z from 'zod';
import { backendRef } from './backend-ref.ts';
import { someOf } from './bounded.ts';
import { sectionName } from './names.ts';
import { routeShape } from './parent-ref.ts';

const rule = z.object({
  name: sectionName.exactOptional().describe('Its name'),
  backendRefs: someOf(16, backendRef, 'backends').describe('Who gets the connections'),
});

/** The one rule of a route for connections. */
export const connectionRules = z
  .array(rule)
  .min(1)
  .max(1)
  .meta({ form: 'a list of one rule' })
  .describe('Where connections go');

/** A route without conditions. */
export const connectionRoute = z.object({ ...routeShape, rules: connectionRules });

export type ConnectionRule = z.output<typeof rule>;
