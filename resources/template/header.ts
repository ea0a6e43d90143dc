import type { GoMap, GoSlice, GoValue } from './go-type.ts';
import { type GoMethod, type GoType, STRING, STRING_SLICE } from './go-type.ts';
import { goMap, goSlice, isMap, isSlice } from './go-value.ts';

const NIL_STRINGS: GoSlice = { type: STRING_SLICE, items: [], tail: [], isNil: true };

/**
 * Go's http.Header: `map[string][]string` with the methods Get and Values. See
 * pkg.go.dev/net/http#Header.
 */
const HEADER: GoType = {
  kind: 'map',
  name: 'http.Header',
  elem: STRING_SLICE,
  methods: new Map<string, GoMethod>([
    ['Add', { params: [STRING, STRING] }],
    ['Clone', { params: [], call: header => header }],
    ['Del', { params: [STRING] }],
    ['Get', { params: [STRING], call: (header, [name]) => valuesOf(header, name).items[0] ?? '' }],
    ['Set', { params: [STRING, STRING] }],
    ['Values', { params: [STRING], call: (header, [name]) => valuesOf(header, name) }],
  ]),
};

/**
 * Returns header fields by name. Names get Go's canonical spelling (`X-Request-Id`). Values of one
 * name add up in order.
 */
export function goHeader(fields: Iterable<readonly [string, readonly string[]]>): GoMap {
  const entries = new Map<string, readonly GoValue[]>();
  for (const [name, values] of fields) {
    const key = canonical(name);
    entries.set(key, [...(entries.get(key) ?? []), ...values.map(value => value.toWellFormed())]);
  }
  const slices = [...entries].map(([name, values]) => [name, goSlice(values, STRING)] as const);
  return { ...goMap(slices), type: HEADER };
}

function valuesOf(header: GoValue, name: GoValue | undefined): GoSlice {
  const values =
    isMap(header) && typeof name === 'string' ? header.entries.get(canonical(name)) : undefined;
  return isSlice(values) ? values : NIL_STRINGS;
}

/** Returns Go's canonical spelling of a header name. One that is no token stays as it is. */
function canonical(name: string): string {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return name.toWellFormed();
  return name.toLowerCase().replace(/(^|-)[a-z]/g, start => start.toUpperCase());
}
