const REDACTED = '[redacted]';

/** Bytes that appear in no log, error or dump. Only `reveal` returns them. */
export class SecretValue {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
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
