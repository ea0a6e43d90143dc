import { pick } from '#protos/testing/random.ts';
import { damage, oddValue } from './odd-values.ts';

/** A field of the wire: its number, its wire type, and its content. */
type Field = { readonly number: number; readonly wireType: number; readonly value: Buffer };

const LENGTH_DELIMITED = 2;
const VARINTS = ['00', '01', '7f', 'ffffffff0f', 'ffffffffffffffff7f', 'ffffffffffffffffff01'].map(
  hex => Buffer.from(hex, 'hex'),
);
const MOST_REPEATED = 300;

/** Returns a message that differs from this one in a few places, at any depth. */
export function mutateMessage(bytes: Buffer, random: () => number): Buffer {
  const fields = random() < 0.85 ? readFields(bytes) : undefined;
  if (fields === undefined || fields.length === 0) return damage(bytes, random);
  const at = Math.floor(random() * fields.length);
  const field = fields[at] as Field;
  return writeFields([
    ...fields.slice(0, at),
    ...mutateField(field, random),
    ...fields.slice(at + 1),
  ]);
}

function mutateField(field: Field, random: () => number): readonly Field[] {
  const { number, wireType, value } = field;
  if (wireType !== LENGTH_DELIMITED)
    return [{ ...field, value: pick(VARINTS, random), wireType: 0 }];
  const ways = [
    () => [{ ...field, value: mutateMessage(value, random) }],
    () => [{ ...field, value: mutateMessage(value, random) }],
    () => [{ ...field, value: mutateMessage(value, random) }],
    () => [{ ...field, value: oddValue(random) }],
    () => [{ ...field, value: oddValue(random) }],
    () => [],
    () => Array.from({ length: Math.ceil(random() * MOST_REPEATED) }, () => field),
    () => Array.from({ length: 5 }, () => ({ ...field, value: oddValue(random) })),
    () => [field, { number: Math.ceil(random() * 40), wireType, value }],
    () => [{ number, wireType: 0, value: pick(VARINTS, random) }],
  ];
  return pick(ways, random)();
}

/** @returns undefined when the bytes are no message. */
export function readFields(bytes: Buffer): readonly Field[] | undefined {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    if (tag === undefined || tag.value < 8) return undefined;
    const [number, wireType] = [Math.floor(tag.value / 8), tag.value % 8];
    const found = readValue(bytes, tag.end, wireType);
    if (found === undefined) return undefined;
    fields.push({ number, wireType, value: bytes.subarray(found.start, found.end) });
    at = found.end;
  }
  return fields;
}

function readValue(
  bytes: Buffer,
  at: number,
  wireType: number,
): { start: number; end: number } | undefined {
  const varint = readVarint(bytes, at);
  const end = {
    0: varint?.end,
    1: at + 8,
    2: varint && varint.end + varint.value,
    5: at + 4,
  }[wireType];
  if (end === undefined || end > bytes.length) return undefined;
  return { start: wireType === LENGTH_DELIMITED && varint ? varint.end : at, end };
}

function readVarint(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let place = 0; place < 5; place += 1) {
    const byte = bytes[at + place];
    if (byte === undefined) return undefined;
    value += (byte % 128) * 128 ** place;
    if (byte < 128) return { value, end: at + place + 1 };
  }
  return undefined;
}

export function writeFields(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(({ number, wireType, value }) => [
      varint(number * 8 + wireType),
      ...(wireType === LENGTH_DELIMITED ? [varint(value.length)] : []),
      value,
    ]),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
