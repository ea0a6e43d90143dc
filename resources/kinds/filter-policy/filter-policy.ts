import * as z from 'zod';
import { caution, type Finding, fault } from '#resources/finding.ts';
import { headerCondition } from '#resources/match/header-condition.ts';
import { ruleMatchShape } from '#resources/match/rule-match-shape.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { integer } from '#resources/words/number-types.ts';
import { scope } from '#resources/words/scope.ts';
import { policyTargets } from '../gateway-api/policy-target.ts';

const NEXT = ['break', 'continue'] as const;
const EMPTY_IS_UNSET = { isUnset: (value: unknown) => value === '' };

const namedShape = {
  name: z.string().min(1).describe('Name of the Filter'),
  namespace: z
    .string()
    .min(1)
    .exactOptional()
    .describe("Its namespace. Default: the FilterPolicy's"),
  ifRequestHeader: headerCondition
    .exactOptional()
    .describe('Requests that it is for. Default: all of the rule'),
};

/** A Filter that a rule, or `insteadOfRedirect`, refers to. */
const referenceShape = {
  ...namedShape,
  onDeny: z
    .enum(NEXT)
    .default('break')
    .meta(EMPTY_IS_UNSET)
    .describe('When the filter answers: send that answer, or go on with the next'),
  onAllow: z
    .enum(NEXT)
    .default('continue')
    .meta(EMPTY_IS_UNSET)
    .describe('When the filter lets the request pass: skip the rest, or go on'),
};

const scopeArgument = scope
  .exactOptional()
  .meta({ deprecatedNames: ['scopes'] })
  .describe(
    'OAuth2: scope values to ask for and, except `offline_access`, to demand, by default `["openid"]` for AuthorizationCode, else none. JWT: values that must be in the token. `scopes` is deprecated',
  );

const innerReference = z.object({
  ...referenceShape,
  arguments: z
    .object({ scope: scopeArgument })
    .prefault({})
    .describe('What the filter does when it decides'),
});

/**
 * Holds a status or filters. With neither the status is 403. See
 * docs/reference/kinds/filter-policy.md.
 */
const insteadOfRedirect = z
  .object({
    ifRequestHeader: headerCondition
      .exactOptional()
      .describe('Requests that it is for. Default: all that would be redirected'),
    httpStatusCode: integer(400, 599)
      .exactOptional()
      .describe('Status of the page that is answered. Default: 403, unless `filters` is set'),
    filters: z
      .array(innerReference)
      .min(1)
      .exactOptional()
      .meta({ form: 'a list of at least one filter' })
      .describe('Filters that decide instead, none of them OAuth2 with AuthorizationCode'),
  })
  .check(({ value, issues }) => {
    if (value.httpStatusCode === undefined || value.filters === undefined) return;
    const message = '`httpStatusCode` and `filters` exclude each other. Keep one';
    issues.push({ code: 'custom', message, path: ['filters'], input: value });
  });

/** The filter's type decides which of them it accepts. A JWT filter accepts only `scope`. */
const filterArguments = z.object({
  scope: scopeArgument,
  insteadOfRedirect: insteadOfRedirect
    .exactOptional()
    .describe(
      'OAuth2 with AuthorizationCode: what is done where the browser would be sent to the provider. Default: it is sent there, and what cannot show a login (`fetch()`, `Accept: application/json`) gets 401',
    ),
  sameSite: z
    .enum(['lax', 'strict', 'none'])
    .exactOptional()
    .meta({ anyCase: true })
    .describe(
      'OAuth2: SameSite attribute of its cookies, in any letter case. Default: no attribute',
    ),
});

const reference = z.object({
  ...referenceShape,
  arguments: filterArguments.prefault({}).describe('What the filter does in this rule'),
});

/** All Filters of targets must let a request pass, so none can skip another. */
const targetReference = z.object({
  ...namedShape,
  arguments: filterArguments.prefault({}).describe('What the filter does for the targets'),
});

const rule = z.object({
  ...ruleMatchShape,
  filters: z
    .array(reference)
    .default([])
    .describe('Filters that run, in this order. Without any the request is allowed'),
});

/** The rules of a FilterPolicy that has none written. */
const NO_RULES: z.output<typeof rule>[] = [];

const schema = z.object({
  targetRefs: policyTargets
    .exactOptional()
    .describe('Gateways and routes of this namespace that it is for, in place of `rules`'),
  filters: z
    .array(targetReference)
    .exactOptional()
    .describe('With `targetRefs`: the Filters that must all let a request pass. `[]`: none'),
  precedence: integer(-2_147_483_648, 2_147_483_647, 'an integer of 32 bits')
    .default(0)
    .describe('Policies with a higher one are tried first, then by namespace and name'),
  rules: z
    .array(rule)
    .default(() => NO_RULES)
    .meta({ form: 'a list of rules' })
    .describe('The first that matches a request counts. Required without `targetRefs`'),
  gateway_id: gatewayId,
});

/** Decides which Filters a request passes (docs/reference/kinds/filter-policy.md). */
export const filterPolicy: KindDefinition<typeof schema> = {
  summary: 'Which Filters a request passes, by host and path or by its Gateway or route.',
  schema,
  fieldsAt: 'spec',
  unknownField: 'error',
  metadata: ['created'],
  check,
};

/** A policy is for targets or for hosts and paths. A target has its own hosts and paths. */
function check({
  filters,
  precedence = 0,
  rules,
  targetRefs,
}: Partial<FilterPolicySpec>): readonly Finding[] {
  if (targetRefs === undefined && filters !== undefined)
    return [fault(['filters'], '`filters` needs valid `targetRefs`')];
  if (targetRefs === undefined)
    return rules === NO_RULES
      ? [fault(['rules'], '`rules` is required: a list of rules')]
      : foreignPatterns(rules ?? []);
  const both = (field: string) =>
    fault([field], `\`targetRefs\` and \`${field}\` exclude each other. Keep one`);
  return [
    ...(rules === undefined || rules === NO_RULES ? [] : [both('rules')]),
    ...(precedence === 0 ? [] : [both('precedence')]),
    ...(filters === undefined
      ? [fault(['filters'], '`filters` is required: a list of Filters')]
      : []),
  ];
}

/** Patterns of other languages: `{a,b}`, `{id}`, `[0-9]`, `a|b` and `/.*`, spelled canonically. */
const FOREIGN_PATTERN = /[[{|]|%(?:5B|7B|7C)|(?<=\/)\.(?=\*)/i;

/** A rule with such a path covers next to nothing. */
function foreignPatterns(rules: readonly z.output<typeof rule>[]): readonly Finding[] {
  return rules.flatMap(({ path }, index) => {
    const [found] = FOREIGN_PATTERN.exec(path) ?? [];
    if (found === undefined) return [];
    const message = `\`${decodeURIComponent(found)}\` stands for itself in a path: \`*\` alone is a pattern, for any run of characters`;
    return [caution(['rules', index, 'path'], message)];
  });
}

export type FilterPolicySpec = z.output<typeof schema>;
export type FilterPolicyRule = z.output<typeof rule>;
export type FilterReference = z.output<typeof reference>;
export type TargetFilter = z.output<typeof targetReference>;
export type InnerFilterReference = z.output<typeof innerReference>;
export type FilterArguments = z.output<typeof filterArguments>;
export type InsteadOfRedirect = z.output<typeof insteadOfRedirect>;
