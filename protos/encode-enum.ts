import type protobuf from 'protobufjs';
import { EncodeError, show } from './encode-error.ts';
import type { Json } from './json.ts';
import type { ValueEncoder } from './value-encoder.ts';
import { WIRE, type WireWriter } from './wire-writer.ts';

/** Returns the writer of an enum's values, which are its words and no numbers. */
export function enumEncoder(type: protobuf.Enum): ValueEncoder {
  const numbers = new Map(
    Object.keys(type.values).map(word => [word, type.values[word] as number]),
  );
  const write = (writer: WireWriter, json: Json, path: string) => {
    const number = typeof json === 'string' ? numbers.get(json) : undefined;
    if (number === undefined)
      throw new EncodeError(path, `${show(json)} is not one of ${[...numbers.keys()].join(', ')}`);
    writer.varint64(BigInt(number));
  };
  return {
    wireType: WIRE.varint,
    write,
    isDefault: json => typeof json === 'string' && numbers.get(json) === 0,
  };
}
