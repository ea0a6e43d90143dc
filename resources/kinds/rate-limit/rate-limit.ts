import { caution, type FieldPath, type Finding, fault } from '#resources/finding.ts';
import {
  canonicalPattern,
  type LabelAlternative,
  type LabelPattern,
  type PatternLabel,
} from '#resources/labels/label-pattern.ts';
import { keyOf, type LabelSpecifier } from '#resources/labels/label-specifier.ts';
import { isTargetLabel, targetLabel, targetLabelMistake } from '#resources/labels/target-label.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import {
  checkErrorResponse,
  checkHeaders,
  LIMIT_DATA,
  LIMIT_ERROR_DATA,
} from '#resources/template/template-vocabulary.ts';
import { shortHash } from '#resources/words/gateway-group.ts';
import { repeats } from '#resources/words/repeats.ts';
import { type Limit, NO_PATTERN, type RateLimitSpec, rateLimitSpec } from './rate-limit-spec.ts';

/** Fields of other products. See docs/how-to/migrate-from-rate-limit-services.md. */
const FOREIGN_FIELDS: ReadonlyMap<string, string> = new Map([
  ['burstFactor', 'A limit has no bursts beside its `rate`, so less may pass at once'],
  ['shadow_mode', 'The limit is enforced. Write `action: LogOnly`'],
  ['unlimited', 'The limit has its `rate`. Write `rate: 4294967295`'],
  ['requests_per_unit', 'Write `rate`'],
]);

/** Limits by label (docs/reference/kinds/rate-limit.md). */
export const rateLimit: KindDefinition<typeof rateLimitSpec> = {
  summary: 'How many requests with certain labels may pass in a unit of time.',
  schema: rateLimitSpec,
  fieldsAt: 'spec',
  unknownField: 'warning',
  refuseField: field =>
    field.startsWith('targetRef') ? 'a limit must not be for another target' : undefined,
  foreignFields: FOREIGN_FIELDS,
  metadata: ['created'],
  check: checkRateLimit,
  named: (spec, identity) =>
    spec.targetRefs === undefined
      ? spec
      : {
          ...spec,
          domain: spec.domain || 'gateway',
          limits: spec.limits.map(limit => forTargets(limit, identity)),
        },
};

/**
 * Returns a limit that counts the requests to targets. They have a label group for each limit,
 * which begins with a label of limits for the same requests alone. So no limit hides another, and
 * labels of other groups do not meet it.
 */
function forTargets(
  { labels, pattern, ...limit }: Limit,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Limit {
  const written = pattern.length === 0 ? labels.map(label => [{ key: keyOf(label) }]) : pattern;
  const { key, value } = targetLabel(namespace, name, countedBy(labels, written));
  return {
    ...limit,
    labels: [{ type: 'generic_key', value }, ...labels],
    pattern: [[{ key, value }], ...written],
  };
}

/**
 * Returns a number for the requests that a limit counts. The place of the limit in its list is no
 * part of it, so that counts stay where a limit is added, moved or left out.
 */
function countedBy(labels: readonly LabelSpecifier[], pattern: LabelPattern): number {
  return Number.parseInt(shortHash(JSON.stringify([labels, canonicalPattern(pattern)])), 16);
}

/** Finds what in a RateLimit has no effect, or another one than it seems to have. */
export function checkRateLimit({
  domain,
  limits,
  targetRefs,
}: Partial<RateLimitSpec>): readonly Finding[] {
  const isMissing = domain === '' && targetRefs === undefined;
  return [
    ...(isMissing ? [fault(['domain'], '`domain` is required: a string')] : []),
    ...(limits?.length === 0
      ? [caution(['limits'], 'there is no limit: nothing is limited by this')]
      : []),
    ...(limits ?? []).flatMap((limit, index) => [
      ...(targetRefs === undefined ? checkPlace(limit, ['limits', index]) : []),
      ...checkLimit(limit, ['limits', index]),
    ]),
  ];
}

/** Without targets the labels are those of Mappings and the Module. */
function checkPlace({ labels, pattern }: Limit, path: FieldPath): readonly Finding[] {
  const required = '`pattern` is required: a list of maps from label key to value';
  return [
    ...(pattern === NO_PATTERN ? [fault([...path, 'pattern'], required)] : []),
    ...(labels.length === 0 ? [] : [fault([...path, 'labels'], '`labels` needs `targetRefs`')]),
    ...pattern.flatMap((item, at) =>
      item.some(isTargetLabel)
        ? [fault([...path, 'pattern', at], targetLabelMistake('match'))]
        : [],
    ),
  ];
}

function checkLimit(limit: Limit, path: FieldPath): readonly Finding[] {
  const { pattern, injectRequestHeaders, injectResponseHeaders, errorResponse } = limit;
  return [
    ...pattern.flatMap((item, index) => checkItem(item, [...path, 'pattern', index])),
    ...checkHeaders(injectRequestHeaders, LIMIT_DATA, [...path, 'injectRequestHeaders']),
    ...checkHeaders(injectResponseHeaders, LIMIT_DATA, [...path, 'injectResponseHeaders']),
    ...checkErrorResponse(errorResponse, LIMIT_ERROR_DATA, [...path, 'errorResponse']),
  ];
}

function checkItem(item: PatternLabel, path: FieldPath): readonly Finding[] {
  const twice = repeats(item.map(({ key, value }) => JSON.stringify([key, value])));
  const keys = new Set(twice.map(index => item[index]?.key));
  return [
    ...[...keys].map(key => caution(path, `the label "${key}" appears twice with the same value`)),
    ...item.filter(isGlob).map(({ key }) => caution(path, asWritten(key))),
  ];
}

/** Of a value that looks like one of many. Messages do not quote it. */
function isGlob({ value = '' }: LabelAlternative): boolean {
  return value.startsWith('*') || value.endsWith('*');
}

function asWritten(key: string): string {
  return `the \`*\` in the value of "${key}" stands for itself: only "*" alone stands for any value`;
}
