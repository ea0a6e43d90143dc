import type { ChannelCredentials } from '@grpc/grpc-js';
import type { HostPort } from '#grpc/host-port.ts';
import type { Message } from '#protos/decode-bytes.ts';
import { serviceClient } from './service-client.ts';

/** Sessions of one Filter. Times are ms since the epoch. */
export type FilterSessions = {
  /** `<namespace>/<name>` */
  readonly filter: string;
  readonly count: number;
  /** Whether there may be more. */
  readonly more: boolean;
  /** Those that were seen last come first. */
  readonly sessions: readonly ListedSession[];
};

export type ListedSession = {
  /** `sub` of the ID token. */
  readonly user: string;
  readonly name: string;
  readonly begun: number;
  readonly seen: number;
  readonly ends: number;
};

export type Sessions = {
  readonly filters: readonly FilterSessions[];
  /** `redis`, which all replicas share, or `file`, which one machine has. */
  readonly store: string;
};

export type ProviderState = {
  readonly filter: string;
  readonly issuer: string;
  readonly keys: readonly { readonly kid: string; readonly algorithm: string }[];
  /** When it answered last, in ms since the epoch. 0: not yet. */
  readonly answered: number;
  readonly answer: string;
  readonly failed: boolean;
};

/** The public keys of a JWT Filter. */
export type FilterKeySet = {
  /** `<namespace>/<name>` */
  readonly filter: string;
  readonly jwksURI: string;
  /** As JSON (RFC 7517), each with the one algorithm that it is accepted for. */
  readonly keys: readonly string[];
};

export type LimitCounters = {
  readonly limit: string;
  readonly domain: string;
  /** Requests of a window, beyond which they are over the limit. */
  readonly rate: number;
  readonly within: number;
  readonly near: number;
  readonly over: number;
  readonly overLogOnly: number;
  readonly keys: readonly CounterKey[];
};

export type CounterKey = {
  readonly labels: readonly { readonly key: string; readonly value: string }[];
  readonly count: number;
  readonly ends: number;
};

export type Counters = {
  readonly limits: readonly LimitCounters[];
  /** `redis`, which all replicas share, or `memory`, which one process has. */
  readonly store: string;
  readonly processes: number;
};

/** Instances of a service, as the discovery service knows them. */
export type ServiceInstances = {
  /** As proxies ask for it. */
  readonly service: string;
  readonly instances: readonly ListedInstance[];
  /** Whether there are more. */
  readonly more: boolean;
};

export type ListedInstance = {
  readonly address: string;
  readonly port: number;
  /** Whether its source says that it can take requests. */
  readonly healthy: boolean;
  readonly drained: boolean;
};

export type ListedCertificate = {
  /**
   * - `identity`: of a node group, whose proxies get it from the discovery service.
   * - `written`: of a group that needs it before it can ask.
   * - `root`: of the built-in authority.
   * - `served`: a secret that proxies serve or trust.
   */
  readonly kind: 'identity' | 'written' | 'root' | 'served';
  /** The group or the secret. Empty for a root. */
  readonly name: string;
  readonly serial: string;
  /** In ms since the epoch. */
  readonly ends: number;
  /** Why newer content is not used. Empty when it is. */
  readonly problem: string;
};

/** What our services know. All reject with a plain Error. */
export type Knowledge = {
  sessions(most: number): Promise<Sessions>;
  providers(): Promise<readonly ProviderState[]>;
  /** Returns the keys by which JWT Filters verify tokens now, as far as they are available. */
  keySets(): Promise<readonly FilterKeySet[]>;
  counters(most: number): Promise<Counters>;
  /** Returns these services, and those that have the instance, as far as they are known. */
  instances(
    services: readonly string[],
    having?: Pick<ListedInstance, 'address' | 'port'>,
  ): Promise<readonly ServiceInstances[]>;
  /** Returns the certificates, the one that ends first at the beginning. */
  certificates(): Promise<readonly ListedCertificate[]>;
  close(): void;
};

export type KnowledgeParts = {
  readonly extAuthz: HostPort;
  readonly rateLimit: HostPort;
  readonly sds: HostPort;
  /** Credentials for the service of this group. Without it all is plain text. */
  credentials?(group: string): ChannelCredentials | undefined;
};

/** Opens the way to our services. No call is made before somebody asks. */
export function openKnowledge(parts: KnowledgeParts): Knowledge {
  const { credentials, extAuthz, rateLimit, sds } = parts;
  const logins = serviceClient('LoginKnowledge', extAuthz, credentials?.('ext-authz'));
  const limits = serviceClient('CounterKnowledge', rateLimit, credentials?.('ratelimit-service'));
  const discovery = serviceClient('DiscoveryKnowledge', sds, credentials?.('sds'));
  return {
    sessions: async most => {
      const { filters, store } = await logins.call('ListSessions', { most });
      return { filters: each(filters, toFilterSessions), store: String(store) };
    },
    providers: async () => each((await logins.call('ListProviders', {})).providers, toProvider),
    keySets: async () => each((await logins.call('ListKeySets', {})).sets, toKeySet),
    counters: async most => {
      const { limits: all, processes, store } = await limits.call('ListCounters', { most });
      return {
        limits: each(all, toLimitCounters),
        store: String(store),
        processes: Number(processes),
      };
    },
    instances: async (services, having) => {
      const found = await discovery.call('ListInstances', { services, ...having });
      return each(found.services, toServiceInstances);
    },
    certificates: async () =>
      each((await discovery.call('ListCertificates', {})).certificates, toCertificate),
    close: () => {
      logins.close();
      limits.close();
      discovery.close();
    },
  };
}

function each<T>(list: unknown, read: (message: Message) => T): readonly T[] {
  return Array.isArray(list) ? list.map(read) : [];
}

function toFilterSessions({ count, filter, more, sessions }: Message): FilterSessions {
  return {
    ...{ filter: String(filter), count: Number(count), more: more === true },
    sessions: each(sessions, ({ begun_ms, ends_ms, name, seen_ms, user }) => ({
      ...{ user: String(user), name: String(name) },
      ...{ begun: Number(begun_ms), seen: Number(seen_ms), ends: Number(ends_ms) },
    })),
  };
}

function toProvider({ answer, answered_ms, failed, filter, issuer, keys }: Message): ProviderState {
  return {
    ...{ filter: String(filter), issuer: String(issuer) },
    ...{ answered: Number(answered_ms), answer: String(answer), failed: failed === true },
    keys: each(keys, ({ algorithm, kid }) => ({ kid: String(kid), algorithm: String(algorithm) })),
  };
}

function toKeySet({ filter, jwks_uri, keys }: Message): FilterKeySet {
  const texts = Array.isArray(keys) ? keys.map(String) : [];
  return { filter: String(filter), jwksURI: String(jwks_uri), keys: texts };
}

function toServiceInstances({ instances, more, service }: Message): ServiceInstances {
  return {
    ...{ service: String(service), more: more === true },
    instances: each(instances, ({ address, drained, healthy, port }) => ({
      ...{ address: String(address), port: Number(port) },
      ...{ healthy: healthy === true, drained: drained === true },
    })),
  };
}

function toCertificate({ ends_ms, kind, name, problem, serial }: Message): ListedCertificate {
  return {
    kind: KINDS.find(each => each === kind) ?? 'served',
    ...{ name: String(name), serial: String(serial) },
    ...{ ends: Number(ends_ms), problem: String(problem) },
  };
}

const KINDS = ['identity', 'written', 'root', 'served'] as const;

function toLimitCounters({
  domain,
  keys,
  limit,
  near,
  over,
  over_log_only,
  rate,
  within,
}: Message): LimitCounters {
  return {
    ...{ limit: String(limit), domain: String(domain), rate: Number(rate) },
    ...{ within: Number(within), near: Number(near), over: Number(over) },
    overLogOnly: Number(over_log_only),
    keys: each(keys, ({ count, ends_ms, labels }) => ({
      ...{ count: Number(count), ends: Number(ends_ms) },
      labels: each(labels, ({ key, value }) => ({ key: String(key), value: String(value) })),
    })),
  };
}
