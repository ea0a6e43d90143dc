import * as z from 'zod';
import { GATEWAY_API_GROUP } from '../known-kinds.ts';
import { someOf } from './bounded.ts';
import { group, kindName, objectName, sectionName } from './names.ts';
import { checkUnique } from './rules.ts';

/** The kinds that a policy may be for. */
export const TARGET_KINDS = ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute'] as const;

/**
 * What a policy is for, or what of it can be read (Gateway API, GEP-713). It is always in the
 * namespace of the policy.
 */
export const policyTarget = z.object({
  group: group.default(GATEWAY_API_GROUP),
  kind: kindName,
  name: objectName.describe('Its name'),
  sectionName: sectionName
    .exactOptional()
    .describe('Its listener, or the rule of a route by its name. Default: all'),
});

const target = z.object({
  ...policyTarget.shape,
  group: z.enum([GATEWAY_API_GROUP]).default(GATEWAY_API_GROUP).describe('Group of the target'),
  kind: z.enum(TARGET_KINDS).describe('Its kind'),
});

export const policyTargets = someOf(16, target, 'targets').check(
  checkUnique(targetText, 'the same target'),
);

/** Returns a text that two targets of a policy share only when they are the same. */
export function targetText({ group, kind, name, sectionName = '' }: PolicyTarget): string {
  return [group, kind, name, sectionName].join('/');
}

export type PolicyTarget = z.output<typeof policyTarget>;

/** A target whose name cannot be read. It may be any Gateway or route of the policy's namespace. */
export const UNREADABLE_TARGET: PolicyTarget = { group: GATEWAY_API_GROUP, kind: '', name: '' };

export function isReadableTarget({ name }: PolicyTarget): boolean {
  return name !== UNREADABLE_TARGET.name;
}
