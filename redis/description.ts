export type Address = { readonly host: string; readonly port: number };

/** PEM texts. `ca` replaces the system's authorities. `cert` and `key` identify this process. */
export type RedisTls = { readonly ca?: string; readonly cert?: string; readonly key?: string };

/**
 * Where Redis is and how to talk to it, the same for every service. Holds secrets: never log it.
 */
export type RedisDescription = {
  readonly topology:
    | { readonly kind: 'single' }
    | { readonly kind: 'sentinel'; readonly masterName: string; readonly password?: string }
    | { readonly kind: 'cluster' };
  /**
   * The server, the sentinels, or some nodes of the cluster, from which the others are found. At
   * least one.
   */
  readonly addresses: readonly Address[];
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
  /** For servers and sentinels alike. */
  readonly tls?: RedisTls;
  /** Returns it with the passwords and certificates of now. Default: they stay. */
  readonly renewed?: () => RedisDescription;
};

export type Malformed = { readonly error: string };

const WANT =
  'want redis://host:port, redis-sentinel://host:port,host:port/master-name or redis-cluster://host:port,host:port (rediss… for TLS)';

/**
 * Parses the address of Redis, in any of these forms:
 * - `redis://[user:password@]host[:port][/database]`
 * - `redis-sentinel://[user:password@]host[:port],…/master-name[/database]`
 * - `redis-cluster://[user:password@]host[:port],…`
 * With TLS each begins with `rediss`. User and password are those of the servers, percent-encoded.
 * A user alone, or `:password`, will do. A sentinel's own password is not in the address. The
 * default port is 6379, and 26379 for sentinels. The schemes follow
 * https://www.iana.org/assignments/uri-schemes/prov/redis. The error is in plain words and has no
 * part of the text in it.
 */
export function parseRedisAddress(text: string): RedisDescription | Malformed {
  const parts = /^(rediss?)(?:-(sentinel|cluster))?:\/\/(?:(.*)@)?([^@/?#]*)(\/[^?#]*)?$/s.exec(
    text.trim(),
  );
  if (parts === null) return { error: `not an address of Redis: ${WANT}` };
  const [, scheme, kind = 'single', userinfo, hosts = '', path = ''] = parts;
  const user = parseUserinfo(userinfo);
  if (user === undefined)
    return { error: 'the user or password has a "%" that is not percent-encoding' };
  const addresses = hosts
    .split(',')
    .map(host => parseAddress(host, kind === 'sentinel' ? 26379 : 6379));
  if (!addresses.every(address => address !== undefined))
    return { error: `a host or port is wrong: ${WANT}` };
  if (kind === 'single' && addresses.length > 1)
    return { error: 'more than one host: want redis-sentinel://… or redis-cluster://…' };
  const target = parsePath(kind, path);
  if ('error' in target) return target;
  return { ...target, ...user, addresses, ...(scheme === 'rediss' && { tls: {} }) };
}

type Target = Pick<RedisDescription, 'topology' | 'database'>;

function parsePath(kind: string, path: string): Target | Malformed {
  const segments = path.split('/').filter(segment => segment !== '');
  if (kind === 'cluster')
    return segments.length === 0
      ? { topology: { kind }, database: 0 }
      : { error: 'a cluster has database 0 alone: want nothing after the hosts' };
  if (kind !== 'sentinel') return withDatabase({ kind: 'single' }, segments);
  const [name, ...rest] = segments;
  const masterName = name === undefined ? undefined : decode(name);
  if (masterName === undefined)
    return { error: 'no master name: want redis-sentinel://host:port,…/master-name' };
  return withDatabase({ kind, masterName }, rest);
}

function withDatabase(
  topology: Target['topology'],
  segments: readonly string[],
): Target | Malformed {
  const [database = '0', ...rest] = segments;
  if (rest.length > 0 || !/^\d{1,5}$/.test(database))
    return { error: 'the database is not a number' };
  return { topology, database: Number(database) };
}

function parseUserinfo(
  userinfo: string | undefined,
): Pick<RedisDescription, 'username' | 'password'> | undefined {
  if (userinfo === undefined) return {};
  const colon = userinfo.indexOf(':');
  const username = decode(colon < 0 ? userinfo : userinfo.slice(0, colon));
  const password = colon < 0 ? '' : decode(userinfo.slice(colon + 1));
  if (username === undefined || password === undefined) return undefined;
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

/** Parses `host`, `host:port`, `[v6]` or `[v6]:port`. */
function parseAddress(text: string, defaultPort: number): Address | undefined {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3] ?? defaultPort);
  return host === undefined || port < 1 || port > 65535 ? undefined : { host, port };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
