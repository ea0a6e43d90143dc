import * as z from 'zod';
import { GATEWAY_API_GROUP } from '../known-kinds.ts';
import { group, kindName, objectName, sectionName } from './names.ts';
import { checkUnique } from './rules.ts';

/** What a policy is for (Gateway API, GEP-713). It is always in the namespace of the policy. */
export const policyTarget = z.object({
  group: group.default(GATEWAY_API_GROUP).describe('Group of the target'),
  kind: kindName.describe('Its kind: Gateway, ListenerSet, HTTPRoute or GRPCRoute'),
  name: objectName.describe('Its name'),
  sectionName: sectionName
    .exactOptional()
    .describe('Its listener, or the rule of a route by its name. Default: all'),
});

export const policyTargets = z
  .array(policyTarget)
  .min(1)
  .max(16)
  .check(checkUnique(targetText, 'the same target'))
  .meta({ form: 'a list of 1 to 16 targets' });

/** Returns a text that two targets of a policy share only when they are the same. */
export function targetText({ group, kind, name, sectionName = '' }: PolicyTarget): string {
  return [group, kind, name, sectionName].join('/');
}

export type PolicyTarget = z.output<typeof policyTarget>;
