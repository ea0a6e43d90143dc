import { isJsonObject } from '#protos/json.ts';
import { canonicalAddress, ipVersion } from '#resources/words/ip-address.ts';
import { HEALTH_STATUSES, type Instance } from './instance.ts';

/** A DNS name. All of its addresses are instances on one port. */
export type DnsName = { readonly dns: string; readonly port: number };

/** What an instances file may list for a service. */
export type DeclaredItem = Instance | DnsName;

/** What is wrong with an item. `path` leads to the field. */
export type Complaint = { readonly path: readonly string[]; readonly message: string };

type Check = (value: unknown, path: readonly string[]) => readonly Complaint[];

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const DNS_NAME = new RegExp(`^(?=.{1,253}\\.?$)${LABEL}(?:\\.${LABEL})*\\.?$`);

/** YAML can escape half of a surrogate pair, which has no UTF-8, so it could not be sent. */
const text = want(
  'a text of whole characters',
  value => typeof value === 'string' && value !== '' && value.isWellFormed(),
);
const port = want('a port, 1 to 65535', value => isInteger(value, 1, 65535));
const address = want(
  'an IP address (for a name write "dns")',
  value => typeof value === 'string' && ipVersion(value) !== 0,
);
const dns = want('a DNS name', value => typeof value === 'string' && DNS_NAME.test(value));
const weight = want('a whole number, 1 to 100', value => isInteger(value, 1, 100));
const health = want(`one of ${HEALTH_STATUSES.join(', ')}`, value =>
  HEALTH_STATUSES.some(each => each === value),
);
const locality = fields({}, { region: text, zone: text, sub_zone: text });

const instance = fields(
  { address, port },
  { hostname: text, health_status: health, load_balancing_weight: weight, locality },
);
const dnsName = fields({ dns, port }, {});

/**
 * Parses one item of a service: `{address, port, …}` as in Instance, or `{dns, port}`.
 * @returns the item, or all that is wrong with it
 */
export function parseDeclaredItem(value: unknown): DeclaredItem | readonly Complaint[] {
  const check = isJsonObject(value) && 'dns' in value ? dnsName : instance;
  const complaints = check(value, []);
  return complaints.length > 0 ? complaints : spelt(value as DeclaredItem);
}

function spelt(item: DeclaredItem): DeclaredItem {
  if (isDnsName(item) || !item.address.includes(':')) return item;
  return { ...item, address: canonicalAddress(item.address) ?? item.address };
}

export function isComplaints(
  parsed: DeclaredItem | readonly Complaint[],
): parsed is readonly Complaint[] {
  return Array.isArray(parsed);
}

export function isDnsName(item: DeclaredItem): item is DnsName {
  return 'dns' in item;
}

function want(what: string, holds: (value: unknown) => boolean): Check {
  return (value, path) =>
    holds(value)
      ? []
      : [{ path, message: `want ${what}, got ${JSON.stringify(value)?.slice(0, 80)}` }];
}

function fields(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>>,
): Check {
  const known: Readonly<Record<string, Check>> = { ...required, ...optional };
  return (value, path) => {
    if (!isJsonObject(value))
      return [{ path, message: `want a map with ${Object.keys(known).join(', ')}` }];
    const missing = Object.keys(required).filter(key => value[key] === undefined);
    return [
      ...missing.map(key => ({ path, message: `"${key}" is missing` })),
      ...Object.entries(value).flatMap(([key, each]) =>
        checkField(known, key, each, [...path, key]),
      ),
    ];
  };
}

function checkField(
  known: Readonly<Record<string, Check>>,
  key: string,
  value: unknown,
  path: readonly string[],
) {
  const check = Object.hasOwn(known, key) ? known[key] : undefined;
  if (check !== undefined) return check(value, path);
  return [{ path, message: `unknown field, known are ${Object.keys(known).join(', ')}` }];
}

function isInteger(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}
