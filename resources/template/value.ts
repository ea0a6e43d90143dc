import type { GoValue } from './go-type.ts';
import { ANY, type GoType } from './go-type.ts';
import { typeOf } from './go-value.ts';

/**
 * A value whose static type is `any`, such as an element of a `map[string]any`. Go keeps it apart
 * from its content until the pipeline it came from ends, and its messages show that.
 */
export type Boxed = { readonly boxed: GoValue };

/** A value while a template is evaluated. Undefined is the result of a missing key or nil. */
export type Value = GoValue | Boxed | undefined;

const NIL: Boxed = { boxed: null };

/** Returns an element of a container whose elements have this type. */
export function elementOf(value: GoValue, elem: GoType | undefined): Value {
  if (elem !== ANY) return value;
  return value === null ? NIL : { boxed: value };
}

/** Returns the value of a missing element of a map. */
export function zeroOf(type: GoType): Value {
  switch (type.kind) {
    case 'interface':
      return NIL;
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'float64':
      return 0;
    case 'slice':
      return { type, items: [], tail: [], isNil: true };
    case 'map':
      return { type, entries: new Map(), hidden: new Set() };
    default:
      return { type, value: 0 };
  }
}

export function isBoxed(value: Value): value is Boxed {
  return typeof value === 'object' && value !== null && 'boxed' in value;
}

/** Returns the value itself, or undefined for nil. */
export function unbox(value: Value): NonNullable<GoValue> | undefined {
  const inner = isBoxed(value) ? value.boxed : value;
  return inner === null ? undefined : inner;
}

/** Returns the value as Go's `any` holds it, where nil is null. */
export function plain(value: Value): GoValue {
  return unbox(value) ?? null;
}

/** Returns the name of the static type of a value. */
export function typeName(value: Value): string {
  if (isBoxed(value)) return ANY.name;
  return value === undefined || value === null ? '<nil>' : typeOf(value).name;
}
