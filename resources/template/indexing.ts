import { type Budget, spend } from './budget.ts';
import { CallError } from './function.ts';
import { byteLength, fromBytes, toBytes } from './go-string.ts';
import type { GoMap, GoSlice, GoValue } from './go-type.ts';
import { ANY, STRING, UINT8 } from './go-type.ts';
import { goInt, isInt, isMap, isSlice, typeOf } from './go-value.ts';
import { elementOf, isBoxed, unbox, type Value, zeroOf } from './value.ts';

/** Computes Go's `len`: bytes of a string, elements of a slice or map. */
export function lengthOf(value: Value, budget: Budget): number {
  const item = unbox(value);
  if (item === undefined)
    throw new CallError(
      value === undefined
        ? 'reflect: call of reflect.Value.Type on zero Value'
        : 'len of nil pointer',
    );
  if (isMap(item)) return item.entries.size;
  if (isSlice(item)) return item.items.length;
  if (typeof item !== 'string') throw new CallError(`len of type ${typeOf(item).name}`);
  spend(budget, 0, item.length);
  return byteLength(item);
}

/** Computes Go's `index`: `index x 1 2` is `x[1][2]`. */
export function indexOf(value: Value, indexes: readonly Value[], budget: Budget): Value {
  if (unbox(value) === undefined) throw new CallError('index of untyped nil');
  return indexes.reduce(
    (item, index) => elementAt(item, unbox(index), budget),
    unbox(value) as Value,
  );
}

function elementAt(value: Value, index: NonNullable<GoValue> | undefined, budget: Budget): Value {
  const item = unbox(value);
  if (item === undefined) throw new CallError('index of nil pointer');
  if (isMap(item)) return entryOf(item, index);
  if (isSlice(item)) return elementOfSlice(item, toIndex(index, item.items.length));
  if (typeof item === 'string') return byteAt(item, index, budget);
  throw new CallError(`can't index item of type ${typeOf(item).name}`);
}

function entryOf(map: GoMap, index: NonNullable<GoValue> | undefined): Value {
  if (index === undefined) throw new CallError('value is nil; should be of type string');
  if (typeof index !== 'string')
    throw new CallError(`value has type ${typeOf(index).name}; should be ${STRING.name}`);
  const found = map.entries.get(index);
  return found === undefined ? zeroOf(map.type.elem ?? ANY) : elementOf(found, map.type.elem);
}

function elementOfSlice(slice: GoSlice, index: number): Value {
  const found = slice.items[index];
  if (found === undefined) throw new CallError('reflect: slice index out of range');
  return elementOf(found, slice.type.elem);
}

function byteAt(text: string, index: NonNullable<GoValue> | undefined, budget: Budget): Value {
  spend(budget, 0, text.length);
  const bytes = toBytes(text);
  const byte = bytes[toIndex(index, bytes.length)];
  if (byte === undefined) throw new CallError('reflect: string index out of range');
  return goInt(byte, UINT8);
}

function toIndex(index: NonNullable<GoValue> | undefined, capacity: number): number {
  if (index === undefined) throw new CallError('cannot index slice/array with nil');
  if (!isInt(index))
    throw new CallError(`cannot index slice/array with type ${typeOf(index).name}`);
  const signed = BigInt.asIntN(64, BigInt(index.value));
  if (signed < 0n || signed > BigInt(capacity))
    throw new CallError(`index out of range: ${signed}`);
  return Number(signed);
}

/** Computes Go's `slice`: `slice x 1 2` is `x[1:2]`. */
export function sliceBetween(value: Value, indexes: readonly Value[], budget: Budget): GoValue {
  const item = unbox(value);
  if (item === undefined) throw new CallError('slice of untyped nil');
  if (indexes.length > 3) throw new CallError(`too many slice indexes: ${indexes.length}`);
  if (typeof item === 'string') return sliceString(item, indexes, budget);
  if (!isSlice(item)) throw new CallError(`can't slice item of type ${typeOf(item).name}`);
  const all = [...item.items, ...item.tail];
  spend(budget, 0, all.length);
  const [start, end, capacity] = bounds(indexes, item.items.length, all.length);
  return { ...item, items: all.slice(start, end), tail: all.slice(end, capacity) };
}

function sliceString(text: string, indexes: readonly Value[], budget: Budget): string {
  if (indexes.length === 3) throw new CallError('cannot 3-index slice a string');
  spend(budget, 0, text.length);
  const bytes = toBytes(text);
  const [start, end] = bounds(indexes, bytes.length, bytes.length);
  return fromBytes(bytes.subarray(start, end));
}

/** Go's `slice`, unlike `index`, does not look into an `any`. */
function sliceIndex(index: Value, capacity: number): number {
  if (isBoxed(index)) throw new CallError(`cannot index slice/array with type ${ANY.name}`);
  return toIndex(unbox(index), capacity);
}

/** Returns start, end and capacity of a slice, in the order in which Go checks them. */
function bounds(
  indexes: readonly Value[],
  length: number,
  capacity: number,
): [number, number, number] {
  const [start = 0, end = length, most = capacity] = indexes.map(index =>
    sliceIndex(index, capacity),
  );
  if (start > end) throw new CallError(`invalid slice index: ${start} > ${end}`);
  if (end > most) throw new CallError(`invalid slice index: ${end} > ${most}`);
  return [start, end, most];
}
