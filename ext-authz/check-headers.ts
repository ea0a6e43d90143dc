import { headerText } from './header-text.ts';
import type { HeaderFields } from './http-request.ts';

/** The names of header fields, some perhaps more than once. */
export function fieldNames(headers: HeaderFields): Iterable<string> {
  return headers instanceof CheckHeaders ? headers.names : headers.keys();
}

/** Where a header's value is among the bytes of a message; `raw`: in `raw_value`, else in `value`, which is UTF-8. */
export type ValueSpan = { readonly start: number; readonly end: number; readonly raw: boolean };

/**
 * The header fields of a CheckRequest. Most of them nobody reads: a value becomes text when it is asked for, a text of its own that does not hold
 * on to the message. Names are in lower case; `names[i]` is that of `spans[i]`.
 */
export class CheckHeaders implements HeaderFields {
  readonly #bytes: Buffer;
  readonly #names: readonly string[];
  readonly #spans: readonly ValueSpan[];
  /** What was asked for last is often asked for again. */
  #lastName = '';
  #lastFields: readonly string[] | undefined;
  #distinct: readonly string[] | undefined;
  #all: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(bytes: Buffer, names: readonly string[], spans: readonly ValueSpan[]) {
    this.#bytes = bytes;
    this.#names = names;
    this.#spans = spans;
  }

  get(name: string): readonly string[] | undefined {
    if (name !== this.#lastName) {
      this.#lastName = name;
      this.#lastFields = this.#fieldsOf(name);
    }
    return this.#lastFields;
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  /** Repeated ones too. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Reads no value. */
  keys(): MapIterator<string> {
    this.#distinct ??= [...new Set(this.#names)];
    return this.#distinct.values();
  }

  get size(): number {
    return this.#map().size;
  }

  entries(): MapIterator<[string, readonly string[]]> {
    return this.#map().entries();
  }

  values(): MapIterator<readonly string[]> {
    return this.#map().values();
  }

  [Symbol.iterator](): MapIterator<[string, readonly string[]]> {
    return this.#map()[Symbol.iterator]();
  }

  forEach(callback: (value: readonly string[], name: string, map: HeaderFields) => void): void {
    for (const [name, value] of this.#map()) callback(value, name, this);
  }

  #fieldsOf(name: string): readonly string[] | undefined {
    const first = this.#names.indexOf(name);
    if (first === -1) return undefined;
    const values = [this.#valueAt(first)];
    for (let at = this.#names.indexOf(name, first + 1); at !== -1; at = this.#names.indexOf(name, at + 1))
      values.push(this.#valueAt(at));
    return values;
  }

  #map(): ReadonlyMap<string, readonly string[]> {
    this.#all ??= new Map([...this.keys()].map(name => [name, this.get(name) ?? []]));
    return this.#all;
  }

  #valueAt(index: number): string {
    const { end = 0, raw = false, start = 0 } = this.#spans[index] ?? {};
    if (!raw) return this.#bytes.toString('utf8', start, end);
    return headerText(this.#names[index] ?? '', this.#bytes.subarray(start, end));
  }
}
