import type { FieldPath } from '#resources/finding.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { nearest } from '#resources/words/suggest.ts';

/** An Ambassador feature that restricts access, and that the gateway does not serve. */
export type Restriction = {
  readonly kind: string;
  /** Below `spec`, as Ambassador spells it. Absent when the resource itself restricts. */
  readonly field?: string;
  /** For resources that restrict by their name. */
  readonly named?: string;
  /** The name under which the Module's `ignore` lists it. */
  readonly name: string;
  /** What it would do, as words that follow "it". */
  readonly does: string;
};

const REVOKES = 'says which certificates are revoked';

/**
 * Every field and kind of Ambassador's reference that restricts access and is not served. What it
 * covers is closed, unless the Module's `ignore` lists it. Restricting fields that are served are
 * not here.
 */
export const RESTRICTIONS: readonly Restriction[] = [
  { kind: 'AuthService', name: 'AuthService', does: 'decides who may pass' },
  {
    kind: 'WebApplicationFirewall',
    name: 'WebApplicationFirewall',
    does: 'decides which requests may pass',
  },
  {
    kind: 'WebApplicationFirewallPolicy',
    name: 'WebApplicationFirewallPolicy',
    does: 'decides which requests may pass',
  },
  { kind: 'Module', named: 'authentication', name: 'authentication', does: 'decides who may pass' },
  { kind: 'Module', named: 'tls', name: 'tls', does: 'demands TLS or certificates of clients' },
  {
    kind: 'Module',
    field: 'config.ip_allow',
    name: 'ip_allow',
    does: 'says which addresses may pass',
  },
  {
    kind: 'Module',
    field: 'config.ip_deny',
    name: 'ip_deny',
    does: 'says which addresses may not pass',
  },
  {
    kind: 'Module',
    field: 'config.x_forwarded_proto_redirect',
    name: 'x_forwarded_proto_redirect',
    does: 'sends requests without TLS to https',
  },
  {
    kind: 'Module',
    field: 'config.lua_scripts',
    name: 'lua_scripts',
    does: 'may answer requests itself',
  },
  {
    kind: 'Module',
    field: 'config.tls',
    name: 'tls',
    does: 'demands TLS or certificates of clients',
  },
  {
    kind: 'Mapping',
    field: 'envoy_override',
    name: 'envoy_override',
    does: "may change what Envoy's route demands",
  },
  { kind: 'Host', field: 'tls.crl_secret', name: 'crl_secret', does: REVOKES },
  { kind: 'Host', field: 'tls.v3CRLSecret', name: 'crl_secret', does: REVOKES },
  { kind: 'TLSContext', field: 'crl_secret', name: 'crl_secret', does: REVOKES },
  { kind: 'TLSContext', field: 'v3CRLSecret', name: 'crl_secret', does: REVOKES },
];

/** Modules by name: the gateway's, and those that restrict. */
const MODULES = ['gateway', 'ambassador', ...RESTRICTIONS.flatMap(({ named = [] }) => named)];

/** The names of the table, which the Module's `ignore` may list. */
export const RESTRICTION_NAMES: readonly string[] = [
  ...new Set(RESTRICTIONS.map(({ name }) => name)),
].sort();

/** A restriction that a resource asks for and that is not served. */
export type Unserved = Pick<Restriction, 'name'> & {
  /** From the document's root, as it is written. */
  readonly path: FieldPath;
  /** What it would do, as words that follow "it". */
  readonly does?: string;
  /** The restricting field that an unknown one probably is. */
  readonly meant?: string;
};

/** Kinds that say themselves what they cover. What others ask for covers every path of the edge. */
const COVERING: readonly string[] = ['Mapping', 'Host', 'TLSContext'];

/** Returns whether an unserved restriction of this kind closes every path of the edge. */
export function closesEverything(kind: string): boolean {
  return !COVERING.includes(kind);
}

/** Returns what a document asks for of the table. Values that restrict nothing do not count. */
export function unservedOf(kind: string, name: string, spec: unknown): readonly Unserved[] {
  return RESTRICTIONS.filter(row => row.kind === kind).flatMap(row => {
    const path = pathOf(row, name, spec);
    return path === undefined ? [] : [{ name: row.name, does: row.does, path }];
  });
}

function pathOf({ field, named }: Restriction, name: string, spec: unknown): FieldPath | undefined {
  if (named !== undefined)
    return nearest(name, MODULES) === named ? ['metadata', 'name'] : undefined;
  return field === undefined ? ['kind'] : findField(spec, field.split('.'), ['spec']);
}

/** Letter case does not count, as in all field names. */
function findField(
  value: unknown,
  [next, ...rest]: readonly string[],
  path: FieldPath,
): FieldPath | undefined {
  if (next === undefined) return restricts(value) ? path : undefined;
  if (!isFields(value)) return undefined;
  const keys = Object.keys(value).filter(key => key.toLowerCase() === next.toLowerCase());
  return keys
    .map(key => findField(value[key], rest, [...path, key]))
    .find(found => found !== undefined);
}

/** Returns whether a value of a restricting field restricts anything. */
export function restricts(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value as Fields).length > 0;
}
