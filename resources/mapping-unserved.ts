import { isDeepStrictEqual } from 'node:util';

/** `harmless`: the value that changes nothing. `without`: what would happen if the field were ignored. */
type Unserved = { readonly harmless: unknown; readonly without: string };

const MATCH: Readonly<Record<string, Unserved>> = {
  case_sensitive: { harmless: true, without: 'the Mapping would match other requests' },
};

/** What a service must not be sent, or not so. */
const SENT: Readonly<Record<string, Unserved>> = {
  tls: {
    harmless: false,
    without: 'the service might be asked in plain text: write `https://` before its name',
  },
};

const UNSERVED = new Map(Object.entries({ ...MATCH, ...SENT }));

/** Ambassador's fields that are not served and that change which requests a Mapping answers. */
export const UNSERVED_MATCH_FIELDS: readonly string[] = Object.keys(MATCH);

/** Why a Mapping with this field of Ambassador's must not be served, or undefined: ignored it would let requests go where, or with what, they were not meant to. */
export function refuseUnserved(field: string, value: unknown): string | undefined {
  const unserved = UNSERVED.get(field.toLowerCase());
  if (unserved === undefined || isDeepStrictEqual(value, unserved.harmless)) return undefined;
  return `\`${field}\` is not served; without it ${unserved.without}`;
}
