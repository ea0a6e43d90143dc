import { compareBytes } from './go-string.ts';
import {
  ANY,
  ANY_MAP,
  ANY_SLICE,
  BOOL,
  COMPLEX128,
  FLOAT64,
  type GoComplex,
  type GoInt,
  type GoKind,
  type GoMap,
  type GoMethod,
  type GoSlice,
  type GoStruct,
  type GoType,
  type GoValue,
  INT,
  mapOf,
  STRING,
  sliceOf,
} from './go-type.ts';

/** What is nested deeper in JSON is nil. */
const DEEPEST_JSON = 200;
const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** Returns an integer, by default of type `int`. `value` must be whole and fit the type. */
export function goInt(value: number | bigint, type: GoType = INT): GoInt {
  const number = Number(value);
  return { type, value: Number.isSafeInteger(number) ? number + 0 : BigInt(value) };
}

/**
 * Returns an int type whose values print by name, such as a protobuf enumeration. A value without a
 * name prints as number.
 */
export function enumType(name: string, kind: GoKind, names: ReadonlyMap<number, string>): GoType {
  const text = (value: GoValue) => {
    const number = isInt(value) ? value.value : 0;
    return names.get(Number(number)) ?? String(number);
  };
  const methods = new Map<string, GoMethod>([['String', { params: [], call: text }]]);
  return { kind, name, text, methods };
}

export function goComplex(real: number, imaginary: number): GoComplex {
  return { type: COMPLEX128, real, imaginary };
}

/**
 * Returns a slice, by default `[]any`. Strings in it must be well formed (`fromJson` ensures that).
 */
export function goSlice(items: readonly GoValue[], elem: GoType = ANY): GoSlice {
  return { type: elem === ANY ? ANY_SLICE : sliceOf(elem), items, tail: [], isNil: false };
}

/**
 * Returns a map with string keys, by default `map[string]any`. The function `json` leaves out the
 * keys in `hidden`.
 */
export function goMap(
  entries: Iterable<readonly [string, GoValue]>,
  hidden: readonly string[] = [],
  elem: GoType = ANY,
): GoMap {
  return {
    type: elem === ANY ? ANY_MAP : mapOf(elem),
    entries: new Map(entries),
    hidden: hidden.length === 0 ? NOTHING_HIDDEN : new Set(hidden),
  };
}

/** Returns a struct. `values` are in the order of the type's fields. */
export function goStruct(type: GoType, values: readonly GoValue[]): GoStruct {
  return { type, values };
}

/**
 * Returns a JSON value as Go's encoding/json gives it to `any`. What JSON lacks is nil, and so is
 * what is nested over 200 deep.
 */
export function fromJson(value: unknown, depth = 0): GoValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth >= DEEPEST_JSON) return null;
  if (Array.isArray(value)) return goSlice(value.map(item => fromJson(item, depth + 1)));
  return goMap(
    Object.entries(value).map(
      ([key, item]) => [key.toWellFormed(), fromJson(item, depth + 1)] as const,
    ),
  );
}

/** Returns the type of a value that is not nil. */
export function typeOf(value: NonNullable<GoValue>): GoType {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'number':
      return FLOAT64;
    case 'boolean':
      return BOOL;
    default:
      return value.type;
  }
}

export function isInt(value: unknown): value is GoInt {
  return typeof value === 'object' && value !== null && 'value' in value;
}

export function isSlice(value: unknown): value is GoSlice {
  return typeof value === 'object' && value !== null && 'items' in value;
}

export function isMap(value: unknown): value is GoMap {
  return typeof value === 'object' && value !== null && 'entries' in value;
}

export function isStruct(value: unknown): value is GoStruct {
  return typeof value === 'object' && value !== null && 'values' in value;
}

export function isComplex(value: unknown): value is GoComplex {
  return typeof value === 'object' && value !== null && 'imaginary' in value;
}

/** Returns the keys in the order in which maps are printed and ranged over. */
export function sortedKeys(map: GoMap): string[] {
  return [...map.entries.keys()].sort(compareBytes);
}
