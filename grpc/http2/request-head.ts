import type { Field } from './field.ts';

/** The headers of a request. Requests of a connection with the same headers share one object. */
export class RequestHead {
  readonly method: string;
  readonly path: string;
  readonly contentLength: number | undefined;
  readonly #fields: readonly Field[];

  constructor(fields: readonly Field[]) {
    this.#fields = fields;
    this.method = this.value(':method') ?? '';
    this.path = this.value(':path') ?? '';
    const length = this.value('content-length');
    this.contentLength = length === undefined ? undefined : Number(length);
  }

  /** Returns the first value of a field, by its name in lower case. */
  value(name: string): string | undefined {
    return this.#fields.find(field => field.name === name)?.value;
  }

  /** Returns all values of a field, joined as HTTP says. Source: RFC 9110, section 5.3. */
  values(name: string): string {
    return this.#fields
      .filter(field => field.name === name)
      .map(({ value }) => value)
      .join(', ');
  }
}

/**
 * Checks the fields of a request. Source: RFC 9113, sections 8.2 and 8.3.
 * @returns undefined when the request is malformed
 */
export function readRequest(fields: readonly Field[]): RequestHead | undefined {
  const seen = new Set<string>();
  let isRegular = false;
  for (const { name, isPseudo, isMalformed } of fields) {
    if (isMalformed || (isPseudo && (isRegular || seen.has(name)))) return undefined;
    if (isPseudo) seen.add(name);
    else isRegular = true;
  }
  const head = new RequestHead(fields);
  const isWhole = seen.has(':method') && seen.has(':scheme') && head.path !== '';
  return isWhole && isLength(head.values('content-length')) ? head : undefined;
}

/** Tells whether these fields may follow a body. Source: RFC 9113, section 8.1. */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(({ isPseudo, isMalformed }) => !(isPseudo || isMalformed));
}

function isLength(value: string): boolean {
  return value === '' || /^\d{1,15}$/.test(value);
}
