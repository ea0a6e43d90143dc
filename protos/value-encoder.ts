import { EncodeError } from './encode-error.ts';
import type { Json } from './json.ts';
import type { WireType, WireWriter } from './wire-writer.ts';

/** Writes the values of one type: a scalar, an enum or a message. */
export type ValueEncoder = {
  readonly wireType: WireType;
  /**
   * Appends the value without its tag, but with its length where it has one. Throws EncodeError
   * when it does not fit.
   */
  write(writer: WireWriter, json: Json, path: string): void;
  /** Tells whether proto3 does not send this value where a field has no presence. */
  isDefault(json: Json): boolean;
};

/**
 * Appends the length of what `write` appends, then that. Returns where that starts. Throws
 * EncodeError when messages are nested deeper than protobuf's parsers read.
 */
export function writeDelimited(writer: WireWriter, path: string, write: () => void): number {
  if (!writer.mayNest) throw new EncodeError(path, 'nested too deeply');
  const begun = writer.begin();
  write();
  return writer.end(begun);
}
