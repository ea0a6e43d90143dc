/**
 * What a table counts for a field besides its bytes. Source: RFC 7541, section 4.1, and RFC 9113,
 * section 6.5.2.
 */
const FIELD_BYTES = 32;

/** A field of a header list. It is checked once, however often a table gives it. */
export type Field = {
  readonly name: string;
  readonly value: string;
  readonly bytes: number;
  readonly isPseudo: boolean;
  /** Whether a request with this field is rejected. */
  readonly isMalformed: boolean;
};

/** Source: RFC 9113, section 8.3.1. */
const PSEUDO = new Set([':method', ':scheme', ':authority', ':path']);
/** Source: RFC 9113, section 8.2.2. */
const OF_CONNECTIONS = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);
/** Source: RFC 9113, section 8.2.1. */
const NAME = /^[!-9;-@[-~]+$/;
const BAD_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/;

/** Checks a field. `name` and `value` have a character for each byte. */
export function toField(name: string, value: string): Field {
  const isPseudo = name.charCodeAt(0) === 0x3a;
  const isMalformed = isPseudo
    ? !PSEUDO.has(name)
    : !NAME.test(name) || isOfConnections(name, value);
  return {
    name,
    value,
    bytes: name.length + value.length + FIELD_BYTES,
    isPseudo,
    isMalformed: isMalformed || BAD_VALUE.test(value),
  };
}

function isOfConnections(name: string, value: string): boolean {
  return OF_CONNECTIONS.has(name) || (name === 'te' && value !== 'trailers');
}
