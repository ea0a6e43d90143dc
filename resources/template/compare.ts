import { CallError } from './function.ts';
import { compareBytes } from './go-string.ts';
import type { GoType, GoValue } from './go-type.ts';
import { isComplex, isInt, isMap, isSlice, isStruct, typeOf } from './go-value.ts';
import { unbox, type Value } from './value.ts';

type Basic = 'bool' | 'complex' | 'int' | 'float' | 'string' | 'uint';

/** Whether a value counts as true, that is neither the zero of its type nor empty. */
export function isTrue(value: Value): boolean {
  const inner = unbox(value);
  if (inner === undefined) return false;
  if (isInt(inner)) return Number(inner.value) !== 0;
  if (isComplex(inner)) return inner.real !== 0 || inner.imaginary !== 0;
  if (isMap(inner)) return inner.entries.size > 0;
  if (isSlice(inner)) return inner.items.length > 0;
  return inner !== false && inner !== 0 && inner !== '';
}

/** Go's `eq`: whether the first is equal to one of the others. */
export function isEqualToAny(first: Value, others: readonly Value[]): boolean {
  if (others.length === 0) throw new CallError('missing argument for comparison');
  const a = unbox(first);
  return others.some(other => isEqual(a, unbox(other)));
}

function isEqual(a: GoValue | undefined, b: GoValue | undefined): boolean {
  const [kindA, kindB] = [basicOf(a), basicOf(b)];
  if (kindA === undefined && kindB === undefined) return isEqualOther(a, b);
  if (kindA === kindB || (isInteger(kindA) && isInteger(kindB))) return isEqualBasic(a, b);
  if (a === undefined || b === undefined || a === null || b === null) return false;
  throw incompatible(a, b);
}

function isEqualBasic(a: GoValue | undefined, b: GoValue | undefined): boolean {
  if (isInt(a) && isInt(b)) return a.value === b.value;
  if (isComplex(a) && isComplex(b)) return a.real === b.real && a.imaginary === b.imaginary;
  return a === b;
}

/**
 * Compares maps, slices and structs. nil may be compared. Else only structs of comparable fields
 * may be. No value is in a message.
 */
function isEqualOther(a: GoValue | undefined, b: GoValue | undefined): boolean {
  if (a === null || a === undefined || b === null || b === undefined)
    return isMissing(a) === isMissing(b);
  const [typeA, typeB] = [typeOf(a), typeOf(b)];
  if (typeA.kind !== typeB.kind)
    throw new CallError(`non-comparable types ${typeA.name}, ${typeB.name}`);
  if (isMissing(a) || isMissing(b)) return isMissing(a) === isMissing(b);
  if (!isComparable(b)) throw new CallError(`non-comparable type ${typeB.name}`);
  return isSame(a, b);
}

function isMissing(value: GoValue | undefined): boolean {
  return value === undefined || value === null || (isSlice(value) && value.isNil);
}

function isComparable(value: GoValue): boolean {
  return (
    !isMap(value) && !isSlice(value) && !(isStruct(value) && !value.values.every(isComparable))
  );
}

/** Compares two values of any type as Go's `==` does. */
function isSame(a: GoValue, b: GoValue): boolean {
  if (a === null || b === null) return a === b;
  if (typeOf(a).name !== typeOf(b).name) return false;
  if (!isStruct(a) || !isStruct(b)) return isEqualBasic(a, b);
  return a.values.every((value, index) => isSame(value, b.values[index] ?? null));
}

/** Compares as Go's `lt`. */
export function isLess(first: Value, second: Value): boolean {
  const [a, b] = [unbox(first), unbox(second)];
  const [kindA, kindB] = [basicOf(a), basicOf(b)];
  if (a === undefined || b === undefined || kindA === undefined || kindB === undefined)
    throw new CallError('invalid type for comparison');
  if (isInt(a) && isInt(b)) return a.value < b.value;
  if (kindA !== kindB) throw incompatible(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b) < 0;
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  throw new CallError('invalid type for comparison');
}

/** Compares as Go's `le`. */
export function isLessOrEqual(first: Value, second: Value): boolean {
  return isLess(first, second) || isEqualToAny(first, [second]);
}

function incompatible(a: NonNullable<GoValue>, b: NonNullable<GoValue>): CallError {
  return new CallError(
    `incompatible types for comparison: ${typeOf(a).name} and ${typeOf(b).name}`,
  );
}

function basicOf(value: GoValue | undefined): Basic | undefined {
  return value === undefined || value === null ? undefined : basicKind(typeOf(value));
}

function basicKind({ kind }: GoType): Basic | undefined {
  switch (kind) {
    case 'bool':
    case 'string':
      return kind;
    case 'float64':
      return 'float';
    case 'complex128':
      return 'complex';
    case 'map':
    case 'slice':
    case 'struct':
    case 'interface':
      return undefined;
    default:
      return kind.startsWith('u') ? 'uint' : 'int';
  }
}

function isInteger(kind: Basic | undefined): boolean {
  return kind === 'int' || kind === 'uint';
}
