import type { Chances } from './seeded-pick.ts';
import { written } from './written.ts';

/** A Host as an operator might write it. */
export type WrittenHost = {
  readonly hostname: string;
  /** Without TLS nothing of it reaches an upstream. */
  readonly shut: boolean;
};

export type RandomHosts = {
  readonly hosts: readonly WrittenHost[];
  readonly documents: readonly object[];
};

type Context = {
  readonly name: string;
  readonly spec: object;
  /** The Hosts that it is for by its own words. Undefined: that is unknown. */
  readonly lists: readonly string[] | undefined;
  readonly isBroken: boolean;
};

const HOSTNAMES = ['a.test', 'b.test', 'x.shop.test', 'cd.test', '*.test', '*'];
const PAIR = { 'tls.crt': 'a certificate', 'tls.key': 'its key' };

/** Returns Hosts, each with a hostname of its own, TLSContexts and their Secrets. */
export function randomHosts(chances: Chances): RandomHosts {
  const { chance } = chances;
  const contexts = Array.from({ length: 3 }, (_, index) => randomContext(index, chances)).filter(
    () => chance(0.5),
  );
  const hosts = HOSTNAMES.filter(() => chance(0.5)).map((hostname, index) =>
    randomHost(hostname, `h${index}`, contexts, chances),
  );
  return {
    hosts,
    documents: [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pair' }, stringData: PAIR },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'half' },
        stringData: { 'tls.crt': 'alone' },
      },
      ...contexts.map(({ name, spec }) => written('TLSContext', 'default', name, spec)),
      ...hosts.map(({ document }) => document),
    ],
  };
}

/** The second is for the first Host by its name, `<name>-context`. */
function randomContext(index: number, { chance, pick }: Chances): Context {
  const lists = HOSTNAMES.filter(() => chance(0.2));
  const isBroken = chance(0.3);
  const mistake = pick([{ min_tls_version: 'v9' }, { secret: 7 }, { hosts: 'a.test' }]);
  return {
    name: index === 1 ? 'h0-context' : `c${index}`,
    spec: {
      hosts: lists,
      secret: pick(['pair', 'pair', 'half', 'none']),
      ...(chance(0.3) ? { ca_secret: 'pair', cert_required: chance(0.5) } : {}),
      ...(chance(0.3) ? { sni: pick(['shop.internal', '10.0.0.1']) } : {}),
      ...(chance(0.3) ? { max_tls_version: 'v1.2', alpn_protocols: pick(['h2', 'http/1.1']) } : {}),
      ...(isBroken ? mistake : {}),
    },
    lists: isBroken && 'hosts' in mistake ? undefined : lists,
    isBroken,
  };
}

function randomHost(
  hostname: string,
  name: string,
  contexts: readonly Context[],
  { chance, pick }: Chances,
) {
  const tls: object = pick([
    {},
    {},
    { tlsSecret: { name: pick(['pair', 'half', 'none']) } },
    { tlsContext: pick(['c0', 'c2', 'none']) },
    { tls: { issuer: 'gateway' } },
    { tls: {} },
  ]);
  const action = pick([undefined, undefined, undefined, 'Redirect', 'reject', 'Route']);
  const mistake = pick([
    { tlsSecret: 5 },
    { hsts: { max_age: -1 } },
    { requestPolicy: { insecure: 'no' } },
  ]);
  const isBroken = chance(0.2);
  const spec = {
    ...(hostname === '*' && chance(0.5) ? {} : { hostname }),
    ...tls,
    ...(action === undefined ? {} : { requestPolicy: { insecure: { action } } }),
    ...(chance(0.3) ? { hsts: { includeSubDomains: true } } : {}),
    ...(isBroken ? mistake : {}),
  };
  const isTls =
    Object.keys(tls).length > 0 || contexts.some(context => isFor(context, hostname, name));
  const shut = isBroken || (action === undefined ? isTls : action !== 'Route');
  return { hostname, shut, document: written('Host', 'default', name, spec) };
}

/** For a Host that names none. A context that cannot be read may be for all. */
function isFor({ isBroken, lists, name }: Context, hostname: string, host: string): boolean {
  if (name === `${host}-context`) return true;
  return lists === undefined ? isBroken : lists.includes(hostname);
}
