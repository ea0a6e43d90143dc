import { WIRE, type WireWriter } from './wire-writer.ts';

/** Appends a field that is a whole number, or a value of an enum. */
export function number(writer: WireWriter, field: number, value: number): void {
  writer.tag(field, WIRE.varint);
  writer.varint(value);
}

export function text(writer: WireWriter, field: number, value: string): void {
  writer.tag(field, WIRE.lengthDelimited);
  writer.string(value);
}

/** Appends a field that is a message, whose own fields `write` appends. */
export function message<T>(
  writer: WireWriter,
  field: number,
  value: T,
  write: (writer: WireWriter, value: T) => void,
): void {
  writer.tag(field, WIRE.lengthDelimited);
  const begun = writer.begin();
  write(writer, value);
  writer.end(begun);
}
