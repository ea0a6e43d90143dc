import protobuf from 'protobufjs';
import { parseDuration } from './duration.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Returns what is wrong with a value of the right type, or undefined. */
export type Check = (json: Json) => string | undefined;

/** The rules of one kind, for example `{min_len: 1}`. */
type Rules = Readonly<Record<string, unknown>>;
type RulesByKind = Readonly<Record<string, Rules>>;

const SURROGATE = /[\ud800-\udfff]/;

type CheckMaker = (bound: unknown, rules: Rules, field: protobuf.Field) => Check | undefined;

/** The rules that Envoy's API uses. Source: protoc-gen-validate, validate.proto. */
const CHECKS: Readonly<Record<string, CheckMaker>> = {
  required: () => undefined,
  ignore_empty: () => undefined,
  // It is about the message in the field. See isSkipped.
  skip: () => undefined,
  // It says which pattern well_known_regex means.
  strict: () => undefined,
  // The encoder accepts an enum's words only.
  defined_only: () => undefined,
  const: bound => want(`be ${bound}`, json => json === bound),
  in: bound => want(`be one of ${list(bound).join(', ')}`, json => list(bound).includes(json)),
  not_in: (bound, _rules, field) =>
    want('be another word', json => !list(bound).includes(enumNumber(field, json))),
  gt: bound => want(`be more than ${showBound(bound)}`, json => quantity(json) > quantity(bound)),
  gte: bound => want(`be at least ${showBound(bound)}`, json => quantity(json) >= quantity(bound)),
  lt: bound => want(`be less than ${showBound(bound)}`, json => quantity(json) < quantity(bound)),
  lte: bound => want(`be at most ${showBound(bound)}`, json => quantity(json) <= quantity(bound)),
  min_len: (bound, _rules, field) =>
    want(`have at least ${bound} characters`, json => textLength(field, json) >= Number(bound)),
  max_len: (bound, _rules, field) =>
    want(`have at most ${bound} characters`, json => textLength(field, json) <= Number(bound)),
  max_bytes: bound =>
    want(`have at most ${bound} bytes`, json => Buffer.byteLength(String(json)) <= Number(bound)),
  prefix: bound => want(`begin with ${bound}`, json => String(json).startsWith(String(bound))),
  suffix: bound => want(`end with ${bound}`, json => String(json).endsWith(String(bound))),
  pattern: bound => want(`match ${bound}`, matches(new RegExp(String(bound), 'u'))),
  well_known_regex: (bound, rules) =>
    want(`be an ${bound}`, matches(headerPattern(String(bound), rules.strict !== false))),
  min_items: bound =>
    want(
      `have at least ${bound} items`,
      json => Array.isArray(json) && json.length >= Number(bound),
    ),
  max_items: bound =>
    want(
      `have at most ${bound} items`,
      json => Array.isArray(json) && json.length <= Number(bound),
    ),
  unique: () =>
    want('have no item twice', json => Array.isArray(json) && new Set(json).size === json.length),
  items: (bound, _rules, field) => eachItem(checkOf(bound as RulesByKind, field)),
  min_pairs: bound =>
    want(
      `have at least ${bound} keys`,
      json => isJsonObject(json) && Object.keys(json).length >= Number(bound),
    ),
  keys: (bound, _rules, field) => eachKey(checkOf(bound as RulesByKind, field)),
};

/**
 * Returns the check of a field that is present, by its `validate.rules`, by which Envoy rejects a
 * resource. Throws for an unknown rule.
 * @returns undefined when the field has no rules
 */
export function fieldCheck(field: protobuf.Field): Check | undefined {
  const rules = rulesOf(field);
  return rules === undefined ? undefined : checkOf(rules, field);
}

/** Tells whether a message must be present. */
export function isRequired(field: protobuf.Field): boolean {
  return Object.values(rulesOf(field) ?? {}).some(({ required }) => required === true);
}

/** Tells whether the rules of the field's message are skipped there. */
export function isSkipped(field: protobuf.Field): boolean {
  return rulesOf(field)?.message?.skip === true;
}

/** Tells whether one member of the oneof must be set. */
export function isRequiredOneof(oneof: protobuf.OneOf): boolean {
  return oneof.options?.['(validate.required)'] === true;
}

function rulesOf(field: protobuf.Field): RulesByKind | undefined {
  return field.options?.['(validate.rules)'];
}

function checkOf(rulesByKind: RulesByKind, field: protobuf.Field): Check | undefined {
  const rules = Object.assign({}, ...Object.values(rulesByKind)) as Rules;
  const checks = Object.entries(rules).flatMap(
    ([rule, bound]) => checkMaker(rule, field)(bound, rules, field) ?? [],
  );
  if (checks.length === 0) return undefined;
  const isIgnored = (json: Json) =>
    rules.ignore_empty === true && (json === '' || quantity(json) === 0);
  return json => (isIgnored(json) ? undefined : firstProblem(checks, json));
}

function checkMaker(rule: string, field: protobuf.Field): CheckMaker {
  const maker = CHECKS[rule];
  if (maker === undefined) throw new Error(`${field.fullName}: unknown validate rule ${rule}`);
  return maker;
}

function firstProblem(checks: readonly Check[], json: Json): string | undefined {
  for (const check of checks) {
    const problem = check(json);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function want(what: string, holds: (json: Json) => boolean): Check {
  return json => (holds(json) ? undefined : `must ${what}`);
}

function eachItem(check: Check | undefined): Check | undefined {
  if (check === undefined) return undefined;
  return json => {
    const problems = (json as readonly Json[]).map(check);
    const first = problems.findIndex(problem => problem !== undefined);
    return first === -1 ? undefined : `item ${first} ${problems[first]}`;
  };
}

function eachKey(check: Check | undefined): Check | undefined {
  const checkItems = eachItem(check);
  return checkItems && (json => checkItems(Object.keys(json as JsonObject)));
}

/** Returns numbers as they are, and durations in nanoseconds. */
function quantity(value: unknown): number {
  const duration = isJsonObject(value) ? { seconds: 0, nanos: 0, ...value } : parseDuration(value);
  return duration === undefined
    ? Number(value)
    : Number(duration.seconds) * 1e9 + Number(duration.nanos);
}

function showBound(bound: unknown): string {
  return isJsonObject(bound) ? `${quantity(bound) / 1e9}s` : String(bound);
}

function textLength(field: protobuf.Field, json: Json): number {
  const text = String(json);
  if (field.type === 'bytes') return Buffer.byteLength(text, 'base64');
  return SURROGATE.test(text) ? [...text].length : text.length;
}

function list(bound: unknown): readonly unknown[] {
  return [bound].flat();
}

function enumNumber(field: protobuf.Field, json: Json): number | undefined {
  return field.resolvedType instanceof protobuf.Enum
    ? field.resolvedType.values[String(json)]
    : undefined;
}

function matches(pattern: RegExp): (json: Json) => boolean {
  return json => pattern.test(String(json));
}

/**
 * `strict` is the default, but Envoy's API mostly turns it off. Source: protoc-gen-validate,
 * well_known_regex.
 */
function headerPattern(wellKnown: string, strict: boolean): RegExp {
  if (!strict) return /^[^\0\n\r]*$/;
  if (wellKnown === 'HTTP_HEADER_NAME') return /^:?[\w!#$%&'*+,\-.^|~`]+$/;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  return /^[^\0-\x08\n-\x1f\x7f]*$/;
}
