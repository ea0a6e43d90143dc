const REDACTED = '[redacted]';

/** Where a value is: in a variable of the environment, or in a file. */
export type SecretPlace = { readonly env: string } | { readonly file: string };

/** Bytes that appear in no log, error or dump. Only `reveal` returns them. */
export class SecretValue {
  readonly #bytes: Uint8Array;
  /** Where the value is, while it is not known. The bytes are then the text that says so. */
  readonly place: SecretPlace | undefined;

  constructor(bytes: Uint8Array, place?: SecretPlace) {
    this.#bytes = bytes;
    this.place = place;
  }

  reveal(): Uint8Array {
    return this.#bytes;
  }

  toJSON(): string {
    return REDACTED;
  }

  toString(): string {
    return REDACTED;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED;
  }
}
