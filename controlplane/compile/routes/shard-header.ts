import type { HeaderChange } from '../forwarded-headers.ts';

/**
 * The header by which Envoy chooses the shard of a request. The listener sets it, and no service
 * sees it.
 */
export const SHARD_HEADER = 'x-gateway-shard';

/** How a listener makes the header, and where its virtual hosts are found. */
export type ShardHeader = {
  readonly changes: readonly HeaderChange[];
  /** Returns the domain of a shard, for a domain of the list that it is a part of. */
  domainOf(domain: string, key: string): string;
};

/** Envoy takes no longer value of a header. */
const MOST_BYTES = 16_000;

/** Whatever it ends with, a wildcard for hosts never covers it. */
const PATH = '%PATH(NQ)%|';

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
    return { changes: [set(`||${PATH}`)], domainOf };
  // Without the need to tell them apart, another host does not change the listener.
  if (wildcards.every(domain => domain === '*' && !cut.has(domain)))
    return {
      changes: [set(HOST + PATH)],
      domainOf: (domain, key) => (domain === '*' ? domain : domainOf(domain, key)),
    };
  const changes = [set(HOST), set(`%CEL(${chosenDomain(domains)})%${PATH}`)];
  const isValid = changes.every(({ value }) => value.length <= MOST_BYTES);
  return isValid && domains.every(domain => PLAIN.test(domain)) ? { changes, domainOf } : undefined;
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

/** In Envoy's order: a name, the longest wildcard in front, the longest one behind, any. */
function chosenDomain(domains: readonly string[]): string {
  const host = `request.headers['${SHARD_HEADER}']`;
  const names = domains.filter(domain => !domain.includes('*'));
  const wildcards = domains.filter(domain => domain.includes('*') && domain !== '*');
  const ordered = wildcards.sort((a, b) => rankOf(b) - rankOf(a));
  const otherwise = domains.includes('*') ? "'||'" : "'|'";
  const wild = ordered.reduceRight(
    (next, domain) => `${matches(host, domain)} ? '${markOf(domain)}' : ${next}`,
    otherwise,
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
  const text = domain.toLowerCase().replaceAll(/[a-z]|[.[\]]/g, char => {
    const upper = char.toUpperCase();
    return char === upper ? `[${char}]` : `[${char}${upper}]`;
  });
  const start = text.startsWith('*') ? text.replace('*', '.') : `^${text}`;
  return start.endsWith('*') ? start.replace('*', '.+[|]$') : `${start}[|]$`;
}

function set(value: string): HeaderChange {
  return { key: SHARD_HEADER, value, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' };
}

const LONGEST = 2 ** 20;

function rankOf(domain: string): number {
  return domain.startsWith('*') ? LONGEST + domain.length : domain.length;
}
