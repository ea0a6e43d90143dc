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
import type { FunctionName } from './template.ts';
import { plain, typeName, unbox, type Value } from './value.ts';

/** Ends a template whose result is discarded. */
export class Discarded extends Error {
  override readonly name = 'Discarded';
}

type Callable = Omit<TemplateFunction, 'name'>;

/** What templates call. See pkg.go.dev/text/template, "Functions". */
const CALLABLES: Readonly<Record<FunctionName, Callable>> = {
  and: { params: [VALUE], rest: VALUE, special: 'and', call: notCalled },
  or: { params: [VALUE], rest: VALUE, special: 'or', call: notCalled },
  call: { params: [VALUE], rest: VALUE, special: 'call', call: notCalled },
  not: { params: [VALUE], call: ([value]) => !isTrue(value) },
  len: { params: [VALUE], call: ([value], budget) => goInt(lengthOf(value, budget)) },
  index: {
    params: [VALUE],
    rest: VALUE,
    call: ([value, ...indexes], budget) => indexOf(value, indexes, budget),
  },
  slice: {
    params: [VALUE],
    rest: VALUE,
    call: ([value, ...indexes], budget) => sliceBetween(value, indexes, budget),
  },
  print: { params: [], rest: ANY, call: (args, budget) => sprint(args.map(plain), budget) },
  println: { params: [], rest: ANY, call: (args, budget) => sprintln(args.map(plain), budget) },
  printf: {
    params: [STRING],
    rest: ANY,
    call: ([format, ...args], budget) => sprintf(String(format), args.map(plain), budget),
  },
  html: { params: [], rest: ANY, call: (args, budget) => escapeHtml(textOf(args, budget, 6)) },
  js: { params: [], rest: ANY, call: (args, budget) => escapeJs(textOf(args, budget, 6)) },
  urlquery: { params: [], rest: ANY, call: (args, budget) => escapeQuery(textOf(args, budget, 9)) },
  eq: { params: [VALUE], rest: VALUE, call: ([a, ...others]) => isEqualToAny(a, others) },
  ne: { params: [VALUE, VALUE], call: ([a, b]) => !isEqualToAny(a, [b]) },
  lt: { params: [VALUE, VALUE], call: ([a, b]) => isLess(a, b) },
  le: { params: [VALUE, VALUE], call: ([a, b]) => isLessOrEqual(a, b) },
  gt: { params: [VALUE, VALUE], call: ([a, b]) => !isLessOrEqual(a, b) },
  ge: { params: [VALUE, VALUE], call: ([a, b]) => !isLess(a, b) },
  /** `hasKey map key` tells whether a map has a key. nil has none. */
  hasKey: {
    params: [VALUE, STRING],
    call: ([map, key]) => {
      const inner = unbox(map);
      if (inner === undefined) return false;
      if (!isMap(inner)) throw new CallError(`value of type ${typeName(inner)} is no map`);
      return inner.entries.has(String(key));
    },
  },
  /** `doNotSet` sets no header. The template's result is discarded. */
  doNotSet: {
    params: [],
    call: () => {
      throw new Discarded();
    },
  },
  /** `json indent value` is the value as JSON. Each line begins with `indent`. */
  json: {
    params: [STRING, ANY],
    call: ([indent, value], budget) => formatJson(String(indent), plain(value), budget),
  },
};

/** The functions of templates by name. */
export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries(CALLABLES).map(([name, callable]) => [name, { name, ...callable }]),
);

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
