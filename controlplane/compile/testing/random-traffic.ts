type Value = unknown;
type Pick = <T>(items: readonly T[]) => T;
type Maybe = (fields: Record<string, () => Value>) => Record<string, Value>;

const ORIGINS: readonly Value[] = [
  '*',
  'null',
  'https://shop.example.com',
  'https://*.example.com:8443',
  'http://[::1]:80',
  'app://x',
  'https://a.example, http://b.example',
  ['https://(a).example'],
  "https://a'b.example",
  '',
];
const NAMES: readonly Value[] = ['*', 'X-A, x-b', ['x_c'], "x!#$%&'*+-.^`|~", '', 'a b'];
const CONDITIONS: readonly Value[] = [
  '5xx',
  'gateway-error,reset',
  ['retriable-4xx', 'cancelled'],
  '4xx',
  '',
];
const DURATIONS: readonly Value[] = ['300ms', '1us', '1h', '0s', 0, '-1s', '600h', 'x'];
const TIMES: readonly number[] = [0, 1, 300_001, 2_147_483_647, -1];
const COUNTS: readonly number[] = [0, 1, 100, 4_294_967_295, -1];
const HEADERS: readonly string[] = ['x-a', 'Host', ':path', 'cookie', 'a b'];
const COOKIES: readonly string[] = [
  'sticky',
  'JSESSIONID',
  "x!#$%&'*+-.^_`|~",
  'gateway_session.x',
  'a;b',
];
const PATHS: readonly string[] = ['/', '/a"b', '/%41', 'a', '/;'];

/**
 * Returns what a Mapping may say of how requests are carried, with odd values, valid and invalid. A
 * Module takes most of it as defaults.
 */
export function randomTraffic(pick: Pick, maybe: Maybe): Record<string, () => Value> {
  return {
    cors: () => ({
      origins: pick(ORIGINS),
      ...maybe({
        methods: () => pick(['GET', 'put, POST', ['*'], 'a b']),
        headers: () => pick(NAMES),
        exposed_headers: () => pick(NAMES),
        credentials: () => pick([true, false]),
        max_age: () => pick([0, '86400', 2_147_483_647, 'x']),
      }),
    }),
    retry_policy: () => ({
      retry_on: pick(CONDITIONS),
      ...maybe({ num_retries: () => pick(COUNTS), per_try_timeout: () => pick(DURATIONS) }),
    }),
    load_balancer: () => ({
      policy: pick(['round_robin', 'least_request', 'ring_hash', 'maglev', 'random']),
      ...pick([
        {},
        { header: pick(HEADERS) },
        { source_ip: true },
        { cookie: randomCookie(pick, maybe) },
      ]),
    }),
    circuit_breakers: () =>
      pick([['default'], ['high'], ['default', 'high'], ['high', 'high'], []]).map(priority => ({
        priority,
        ...maybe({
          max_connections: () => pick(COUNTS),
          max_pending_requests: () => pick(COUNTS),
          max_requests: () => pick(COUNTS),
          max_retries: () => pick(COUNTS),
        }),
      })),
    priority: () => pick(['default', 'high']),
    idle_timeout_ms: () => pick(TIMES),
    cluster_idle_timeout_ms: () => pick(TIMES),
    cluster_max_connection_lifetime_ms: () => pick(TIMES),
    enable_ipv4: () => pick([true, false]),
    enable_ipv6: () => pick([true, false]),
    respect_dns_ttl: () => pick([true, false]),
    grpc: () => pick([true, false]),
    shadow: () => pick([true, false, false]),
    keepalive: () =>
      maybe({
        time: () => pick([1, 32_767]),
        interval: () => pick([1, 32_767]),
        probes: () => pick([1, 127, 128]),
      }),
  };
}

function randomCookie(pick: Pick, maybe: Maybe): Value {
  return {
    name: pick(COOKIES),
    ...maybe({ ttl: () => pick(DURATIONS), path: () => pick(PATHS) }),
  };
}
