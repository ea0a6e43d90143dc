import type { HeaderChange } from '../forwarded-headers.ts';

/**
 * The header by which Envoy chooses the shard of a request. The listener sets it, and no service
 * sees it.
 */
export const SHARD_HEADER = 'x-gateway-shard';

/** Has the first value of the header by which lists are cut. The listener sets and removes it. */
export const VALUE_HEADER = 'x-gateway-shard-value';

/** How a listener makes the header, and where its virtual hosts are found. */
export type ShardHeader = {
  readonly changes: readonly HeaderChange[];
  /** Returns the domain of a shard, for a domain of the list that it is a part of. */
  domainOf(domain: string, key: string): string;
  /** Returns the value that Envoy makes for a request. */
  keyFor(request: ShardRequest): string;
};

/** What of a request decides which shard it gets. */
export type ShardRequest = {
  /** Without port. */
  readonly host: string;
  /** Without query. */
  readonly path: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
};

/** A shard that is cut by the values of a header. */
export type ValueCut = {
  /** Returns the domain of the list for a value in lower case. */
  domainOf(value: string): string;
  /** The domain of the list for requests with none of these values. */
  readonly otherDomain: string;
};

/** Stands for the values of a header that a client sent twice. No one value has a comma. */
export const SEVERAL = ',';

/** Envoy takes no longer value of a header. */
const MOST_BYTES = 16_000;

/**
 * Whatever it ends with, a wildcard for hosts never covers it. Without `PATH` it would be
 * `x-envoy-original-path`, which a proxy beside an application gets from the edge.
 */
const PATH = '%PATH(NQ:PATH)%|';

/**
 * The host without its port, as Envoy compares it (`ignore_port_in_host_matching`). Never empty.
 * The regular expression costs half as much as all else of a request that Envoy answers itself, so
 * it is not for hosts without a port.
 */
const HOST = `%CEL(request.host.contains(':') ? re.extract(request.host, '^(.*?)(?::[^:\\\\]]*)?$', '\\\\1') : request.host)%|`;

/**
 * Returns the header of a table with virtual hosts of these domains, of which those in `cut` are
 * cut. Its value is the domain that Envoy would choose, then the path.
 * @returns undefined when Envoy could not make it
 */
export function shardHeader(
  domains: readonly string[],
  cut: ReadonlySet<string>,
): ShardHeader | undefined {
  const wildcards = domains.filter(domain => domain.includes('*'));
  if (wildcards.length === domains.length && wildcards.every(domain => domain === '*'))
    return { changes: [set(`||${PATH}`)], domainOf, keyFor: ({ path }) => `||${path}|` };
  // Without the need to tell them apart, another host does not change the listener.
  if (wildcards.every(domain => domain === '*' && !cut.has(domain)))
    return {
      changes: [set(HOST + PATH)],
      domainOf: (domain, key) => (domain === '*' ? domain : domainOf(domain, key)),
      keyFor: ({ host, path }) => `${host}|${path}|`,
    };
  const changes = [set(HOST), set(`%CEL(${chosenDomain(domains)})%${PATH}`)];
  const isValid = changes.every(({ value }) => value.length <= MOST_BYTES);
  if (!isValid || !domains.every(domain => PLAIN.test(domain))) return undefined;
  const keyFor = ({ host, path }: ShardRequest) => `${markFor(host, domains)}${path}|`;
  return { changes, domainOf, keyFor };
}

/** Envoy takes no longer expression for a wildcard. */
const PLAIN = /^(?:[\w.:[\]-]{1,250}|\*[\w.:-]{0,80}|[\w.:-]{1,80}\*)$/;

/** No host has a `|`, so the domains of different lists never meet. */
function domainOf(domain: string, key: string): string {
  return `${markOf(domain)}${key}*`;
}

function markOf(domain: string): string {
  return `${domain.toLowerCase().replace('*', '|')}|`;
}

/** Does what `chosenDomain` says. */
function markFor(host: string, domains: readonly string[]): string {
  const lower = host.toLowerCase();
  if (namesOf(domains).some(name => name.toLowerCase() === lower)) return `${host}|`;
  const wild = wildcardsOf(domains).find(domain => new RegExp(regexOf(domain)).test(`${host}|`));
  return wild === undefined ? otherMark(domains) : markOf(wild);
}

function namesOf(domains: readonly string[]): readonly string[] {
  return domains.filter(domain => !domain.includes('*'));
}

function wildcardsOf(domains: readonly string[]): readonly string[] {
  const wildcards = domains.filter(domain => domain.includes('*') && domain !== '*');
  return wildcards.sort((a, b) => rankOf(b) - rankOf(a));
}

function otherMark(domains: readonly string[]): string {
  return domains.includes('*') ? '||' : '|';
}

/** In Envoy's order: a name, the longest wildcard in front, the longest one behind, any. */
function chosenDomain(domains: readonly string[]): string {
  const host = `request.headers['${SHARD_HEADER}']`;
  const names = namesOf(domains);
  const wild = wildcardsOf(domains).reduceRight(
    (next, domain) => `${matches(host, domain)} ? '${markOf(domain)}' : ${next}`,
    `'${otherMark(domains)}'`,
  );
  if (names.length === 0) return wild;
  const lower = names.map(name => `'${markOf(name)}'`).join(', ');
  const others = names.map(name => matches(host, name)).join(' || ');
  // CEL cannot lower the case, and one expression for many names is too long for it.
  return `(${host} in [${lower}] || ${host}.matches('[A-Z]') && (${others})) ? ${host} : ${wild}`;
}

function matches(host: string, domain: string): string {
  return `${host}.matches('${regexOf(domain)}')`;
}

/** Without a backslash, which CEL's texts and JSON would both escape. */
function regexOf(domain: string): string {
  const text = letters(domain);
  const start = text.startsWith('*') ? text.replace('*', '.') : `^${text}`;
  return start.endsWith('*') ? start.replace('*', '.+[|]$') : `${start}[|]$`;
}

/** What decides which shard a request gets: its domain, and those below it. */
export type CutShard = { readonly domain: string; readonly below: readonly string[] };

/**
 * Returns the header with the number of a shard in place of the path, for requests of these shards,
 * and behind it the value of a header. A client that sent it twice has SEVERAL.
 * @returns undefined when Envoy could not make it
 */
export function withValues(
  { changes, domainOf, keyFor }: ShardHeader,
  name: string,
  shards: readonly CutShard[],
): (ShardHeader & { readonly cuts: readonly ValueCut[] }) | undefined {
  const begins = shards.flatMap(({ below, domain }) => [domain, ...below]).map(withoutStar);
  if (!begins.every(begin => PLAIN_BEGIN.test(begin)) || OWN_HEADERS.test(name)) return undefined;
  const known = `request.headers['${SHARD_HEADER}']`;
  const value = `request.headers['${name}']`;
  const number = shards.reduceRight(
    (next, shard, index) => `${isIn(known, shard)} ? '${numberOf(index)}' : ${next}`,
    known,
  );
  // Without the header there is no value, and Envoy writes `-`.
  const one = `${value} == request.headers['${VALUE_HEADER}'] ? ${value} : '${SEVERAL}'`;
  const last = set(`%CEL(${number})%|%CEL(${one})%|`);
  if (last.value.length > MOST_BYTES) return undefined;
  return {
    changes: [{ ...set(`%REQ(${name})%`), key: VALUE_HEADER }, ...changes, last],
    domainOf,
    keyFor: request => {
      const known = keyFor(request);
      const index = shards.findIndex(shard => beginsIn(known, shard));
      const values = request.headers.get(name) ?? ['-'];
      const one = values.length > 1 ? SEVERAL : values[0];
      return `${index < 0 ? known : numberOf(index)}|${one}|`;
    },
    cuts: shards.map((_, index) => ({
      domainOf: value => `${numberOf(index)}|${value}|`,
      otherDomain: `${numberOf(index)}|*`,
    })),
  };
}

/** Without regular expressions, and without what Envoy itself changes before it chooses a route. */
const PLAIN_BEGIN = /^[\w.:|/-]*$/;
const OWN_HEADERS =
  /[^a-z0-9_-]|^(?:x-(?:envoy|forwarded|gateway|request-id)|host$|connection$|upgrade$|te$|via$)/;

/** No host begins with a `|`, and no wildcard has a second one right behind a `~`. */
function numberOf(index: number): string {
  return `|~${index}`;
}

function isIn(value: string, { below, domain }: CutShard): string {
  const begins = (each: string) => `${value}.matches('^${letters(withoutStar(each))}')`;
  const others = below.map(each => ` && !${begins(each)}`);
  return begins(domain) + others.join('');
}

/** Does what `isIn` says. */
function beginsIn(value: string, { below, domain }: CutShard): boolean {
  const lower = value.toLowerCase();
  const begins = (each: string) => lower.startsWith(withoutStar(each));
  return begins(domain) && !below.some(begins);
}

function withoutStar(domain: string): string {
  return domain.slice(0, -1);
}

/** Returns an expression for a text in any letter case. */
function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[a-z]|[.|[\]]/g, char => {
    const upper = char.toUpperCase();
    return char === upper ? `[${char}]` : `[${char}${upper}]`;
  });
}

function set(value: string): HeaderChange {
  return { key: SHARD_HEADER, value, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' };
}

const LONGEST = 2 ** 20;

function rankOf(domain: string): number {
  return domain.startsWith('*') ? LONGEST + domain.length : domain.length;
}
