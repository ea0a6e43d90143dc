import { isDeepStrictEqual } from 'node:util';

/** `harmless`: the value that changes nothing. `without`: what would happen if the field were ignored. */
type Unserved = { readonly harmless: unknown; readonly without: string };

/** What a service must not be sent, or not so. */
const UNSERVED_FIELDS: Readonly<Record<string, Unserved>> = {
  tls: {
    harmless: false,
    without: 'the service might be asked in plain text: write `https://` before its name',
  },
};

const UNSERVED = new Map(Object.entries(UNSERVED_FIELDS));

/** Why a Mapping with this field of Ambassador's must not be served, or undefined: ignored it would let requests go where, or with what, they were not meant to. */
export function refuseUnserved(field: string, value: unknown): string | undefined {
  const unserved = UNSERVED.get(field.toLowerCase());
  if (unserved === undefined || isDeepStrictEqual(value, unserved.harmless)) return undefined;
  return `\`${field}\` is not served; without it ${unserved.without}`;
}
