import { type Budget, spend } from './budget.ts';
import { isEqualToAny, isLess, isLessOrEqual, isTrue } from './compare.ts';
import { escapeHtml, escapeJs, escapeQuery } from './escape.ts';
import { CallError, type TemplateFunction, VALUE } from './function.ts';
import type { GoValue } from './go-type.ts';
import { ANY, STRING } from './go-type.ts';
import { goInt, isMap } from './go-value.ts';
import { indexOf, lengthOf, sliceBetween } from './indexing.ts';
import { formatJson } from './json.ts';
import { sprint, sprintf, sprintln } from './printf.ts';
import { plain, typeName, unbox, type Value } from './value.ts';

/** Ends a template whose result is discarded. */
export class Discarded extends Error {
  override readonly name = 'Discarded';
}

/** The functions of every Go template. See pkg.go.dev/text/template, "Functions". */
export const BUILTINS: readonly TemplateFunction[] = [
  { name: 'and', params: [VALUE], rest: VALUE, special: 'and', call: notCalled },
  { name: 'or', params: [VALUE], rest: VALUE, special: 'or', call: notCalled },
  { name: 'call', params: [VALUE], rest: VALUE, special: 'call', call: notCalled },
  { name: 'not', params: [VALUE], call: ([value]) => !isTrue(value) },
  { name: 'len', params: [VALUE], call: ([value], budget) => goInt(lengthOf(value, budget)) },
  {
    name: 'index',
    params: [VALUE],
    rest: VALUE,
    call: ([value, ...indexes], budget) => indexOf(value, indexes, budget),
  },
  {
    name: 'slice',
    params: [VALUE],
    rest: VALUE,
    call: ([value, ...indexes], budget) => sliceBetween(value, indexes, budget),
  },
  { name: 'print', params: [], rest: ANY, call: (args, budget) => sprint(args.map(plain), budget) },
  {
    name: 'println',
    params: [],
    rest: ANY,
    call: (args, budget) => sprintln(args.map(plain), budget),
  },
  {
    name: 'printf',
    params: [STRING],
    rest: ANY,
    call: ([format, ...args], budget) => sprintf(String(format), args.map(plain), budget),
  },
  {
    name: 'html',
    params: [],
    rest: ANY,
    call: (args, budget) => escapeHtml(textOf(args, budget, 6)),
  },
  { name: 'js', params: [], rest: ANY, call: (args, budget) => escapeJs(textOf(args, budget, 6)) },
  {
    name: 'urlquery',
    params: [],
    rest: ANY,
    call: (args, budget) => escapeQuery(textOf(args, budget, 9)),
  },
  { name: 'eq', params: [VALUE], rest: VALUE, call: ([a, ...others]) => isEqualToAny(a, others) },
  { name: 'ne', params: [VALUE, VALUE], call: ([a, b]) => !isEqualToAny(a, [b]) },
  { name: 'lt', params: [VALUE, VALUE], call: ([a, b]) => isLess(a, b) },
  { name: 'le', params: [VALUE, VALUE], call: ([a, b]) => isLessOrEqual(a, b) },
  { name: 'gt', params: [VALUE, VALUE], call: ([a, b]) => !isLessOrEqual(a, b) },
  { name: 'ge', params: [VALUE, VALUE], call: ([a, b]) => !isLess(a, b) },
];

/** `hasKey map key`: whether a map has a key. nil has none. */
export const HAS_KEY: TemplateFunction = {
  name: 'hasKey',
  params: [VALUE, STRING],
  call: ([map, key]) => {
    const inner = unbox(map);
    if (inner === undefined) return false;
    if (!isMap(inner)) throw new CallError(`value of type ${typeName(inner)} is no map`);
    return inner.entries.has(String(key));
  },
};

/** `doNotSet`: no header is set, and the template's result is discarded. */
export const DO_NOT_SET: TemplateFunction = {
  name: 'doNotSet',
  params: [],
  call: () => {
    throw new Discarded();
  },
};

/** `json indent value`: the value as JSON, each line beginning with `indent`. */
export const JSON_FUNCTION: TemplateFunction = {
  name: 'json',
  params: [STRING, ANY],
  call: ([indent, value], budget) => formatJson(String(indent), plain(value), budget),
};

/**
 * Returns the text of arguments to escape. Each character may become `growth` ones. nil is `<no
 * value>`.
 */
function textOf(args: readonly Value[], budget: Budget, growth: number): string {
  const values = args.map((arg): GoValue => plain(arg) ?? '<no value>');
  const text = sprint(values, budget);
  spend(budget, 0, text.length * growth);
  return text;
}

function notCalled(): Value {
  throw new CallError('unreachable');
}
