import { seededRandom } from '#protos/testing/random.ts';
import { randomRouting } from './random-routing.ts';
import { randomTraffic } from './random-traffic.ts';

type Value = unknown;
type Pick = <T>(items: readonly T[]) => T;

/** Odd but possible values, valid and invalid, for each kind of field. */
const TEXTS: readonly string[] = [
  '',
  'a',
  '%REQ(X)%',
  '%',
  '\\1',
  '$0',
  "'",
  '"',
  '{{',
  'é',
  '😀',
  'a b',
  '\t',
  '-',
  '~',
  'x'.repeat(300),
];
const HOSTS: readonly string[] = [
  '*',
  '*.example.com',
  '*.com',
  'API.example.com',
  'a.b.c.example.com',
  '::1',
  '10.0.0.1',
  'xn--bcher-kva.example',
  'under_score.example.com',
  'localhost',
];
const PATHS: readonly string[] = [
  '/',
  '/a',
  '/a/',
  '/a//b',
  '/a?b',
  '/a#b',
  '/%41',
  '/%',
  '/%zz',
  '/a;b',
  '/a..b',
  '/..',
  '/é',
  '/a b',
  '/$1',
  '/(',
  '/[',
  '/*',
  '/\\',
  `/${'x'.repeat(500)}`,
  'a',
  '',
];
const REGEXES: readonly string[] = [
  '/a.*',
  '.*',
  '/(a|b)+',
  '/[a-z]{1,50}',
  '/a{1000}',
  '(?i)/x',
  '/(?P<n>x)',
  '/\\d+',
  '/\\pL+',
  '/(',
  '/x{2,1}',
  '\\C',
  '/(a{100}){100}',
  '(?:)',
  '^/a$',
  `/(${'abc|'.repeat(100)}z)`,
];
const SERVICES: readonly string[] = [
  'a',
  'b',
  'b.shop',
  'b.shop:8080',
  'http://b',
  'https://b',
  'https://b:8443',
  '10.1.2.3',
  '[::1]:80',
  'https://10.1.2.3',
  'https://[::1]',
  'controlplane',
  'sds',
  'sds-rest',
  'LOCALHOST:1',
  'a_b',
  'a:65535',
  'a:0',
  'c1',
  'c2',
];
const HEADERS: readonly string[] = [
  'x-a',
  'X-B',
  'Host',
  ':authority',
  ':path',
  ':method',
  ':scheme',
  'x_c',
  'cookie',
  'content-length',
  'te',
  "x!#$%&'*+-.^`|~",
];
const DOMAINS: readonly string[] = [
  'gateway',
  'gateway',
  '__proto__',
  'toString',
  'é "\n',
  'x'.repeat(300),
];
const SPECIFIERS: readonly Value[] = [
  'source_cluster',
  'destination_cluster',
  'remote_address',
  ...TEXTS.slice(1),
  ...TEXTS.slice(1).map(value => ({ generic_key: value })),
  ...HEADERS.map(header => ({ k: { header } })),
  ...TEXTS.slice(1).map(key => ({ [key]: { header: 'x-a' } })),
];
const METHODS: readonly string[] = ['GET', 'post', 'CONNECT', 'PROPFIND', 'M-SEARCH', 'a b'];
const UPGRADES: readonly string[] = [
  'websocket',
  'WebSocket',
  'spdy/3.1',
  'CONNECT',
  'a b',
  "x!#$%&'*+-.^_`|~",
  '',
];
const NUMBERS: readonly number[] = [0, 1, 2, 10, 50, 99, 100, 250, 3000, 300_001, 2_147_483_647];

/**
 * Returns documents of all kinds that the compiler reads, with odd values. Many of them are valid,
 * some are not.
 */
export function randomDocuments(seed: number, count: number): readonly Value[] {
  const random = seededRandom(seed);
  const pick: Pick = items => items[Math.floor(random() * items.length)] as (typeof items)[number];
  const maybe = (fields: Record<string, () => Value>) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => (random() < 0.3 ? [[name, value()]] : [])),
    );
  return Array.from({ length: count }, (_, index) => {
    const name = `r-${index}`;
    if (index === 0)
      return document('Module', 'gateway', {
        config: { ...maybe(moduleFields(pick)), ...maybe(randomTraffic(pick, maybe)) },
      });
    if (index === 1) return document('RateLimitService', name, rateLimitService(pick, maybe));
    if (index === 2) return document('TracingService', name, tracingService(pick, maybe));
    if (index === 3) return document('LogService', name, logService(pick, maybe));
    if (index < 15) return document('ProxyConfig', name, proxyConfig(pick, maybe));
    if (index < 30) return document('RateLimit', name, rateLimit(pick, maybe));
    return document('Mapping', name, mapping(pick, maybe));
  });
}

type Maybe = (fields: Record<string, () => Value>) => Record<string, Value>;

function document(kind: string, name: string, spec: Value): Value {
  return { apiVersion: 'gateway.internal/v2', kind, metadata: { name }, spec };
}

function moduleFields(pick: Pick): Record<string, () => Value> {
  return {
    use_remote_address: () => pick([true, false]),
    xff_num_trusted_hops: () => pick([0, 1, 4_294_967_295]),
    escaped_slashes: () => pick(['reject', 'keep']),
    listener_idle_timeout_ms: () => pick(NUMBERS),
    server_name: () => pick(TEXTS),
    default_label_domain: () => pick(DOMAINS),
    default_labels: () => ({ [pick(DOMAINS)]: { defaults: [pick(SPECIFIERS), pick(SPECIFIERS)] } }),
    proxy_log_format: () =>
      pick(['%DYNAMIC_METADATA(proxy.filters.http.ratelimit:a)%', '%%', '%REQ(X)%']),
  };
}

function mapping(pick: Pick, maybe: Maybe): Value {
  const regex = pick([true, false, false]);
  return {
    prefix: pick(regex ? REGEXES : PATHS),
    service: pick(SERVICES),
    ...(regex ? { prefix_regex: true } : {}),
    ...(pick([true, false, false]) ? maybe(randomTraffic(pick, maybe)) : {}),
    ...maybe({
      host: () => pick(HOSTS),
      prefix_exact: () => pick([true, false]),
      method: () => pick(METHODS),
      headers: () => ({
        [pick(HEADERS)]: pick([true, ...TEXTS]),
        [pick(HEADERS)]: pick([true, ...TEXTS]),
      }),
      precedence: () => pick([-1, 0, 1, 2_147_483_647]),
      rewrite: () => pick(PATHS),
      host_rewrite: () => pick([...HOSTS, ...TEXTS]),
      timeout_ms: () => pick(NUMBERS),
      connect_timeout_ms: () => pick(NUMBERS),
      weight: () => pick(NUMBERS),
      resolver: () => pick(['dns', 'sds', 'endpoint']),
      tls: () => pick([true, false, 'c0', 'c2', { name: 'h0-context' }, 'none', 5]),
      bypass_auth: () => pick([true, false]),
      allow_upgrade: () => [pick(UPGRADES), 'websocket'],
      use_websocket: () => pick([true, false]),
      labels: () => ({
        [pick(DOMAINS)]: [
          { g: [pick(SPECIFIERS), pick(SPECIFIERS)] },
          { [pick(TEXTS)]: [pick(SPECIFIERS)] },
        ],
      }),
    }),
    ...(pick([true, false]) ? randomRouting(pick, maybe) : {}),
  };
}

function rateLimitService(pick: Pick, maybe: Maybe): Value {
  return {
    service: pick(SERVICES.slice(0, 12)),
    ...maybe({
      domain: () => pick(DOMAINS),
      timeout_ms: () => pick(NUMBERS.slice(1)),
      failure_mode_deny: () => pick([true, false]),
      tls: () => pick([true, false]),
      stats_name: () => pick(['limits', 'a_b-c']),
    }),
  };
}

function tracingService(pick: Pick, maybe: Maybe): Value {
  const percentage = () => pick([0, 0.1, 33.3, 100, 101]);
  const tag = () => ({
    tag: pick(TEXTS),
    ...pick<object>([
      { literal: { value: pick(TEXTS) } },
      { environment: { name: pick(TEXTS) } },
      { request_header: { name: pick([...HEADERS, ':path']), default_value: pick(TEXTS) } },
    ]),
  });
  return {
    service: pick(SERVICES.slice(0, 12)),
    driver: pick(['opentelemetry', 'zipkin']),
    ...maybe({
      config: () =>
        maybe({
          service_name: () => pick(TEXTS),
          collector_endpoint: () => pick(['/', '/api/v2/spans?a=b']),
          collector_endpoint_version: () => pick(['HTTP_JSON', 'HTTP_PROTO']),
          collector_hostname: () => pick(['zipkin', 'zipkin:9411', '[::1]:9411']),
          trace_id_128bit: () => pick([true, false]),
          shared_span_context: () => pick([true, false]),
        }),
      sampling: () => maybe({ client: percentage, random: percentage, overall: percentage }),
      continue_client_traces: () => pick([true, false]),
      custom_tags: () => [tag(), tag()],
      tag_headers: () => [pick(HEADERS), ':path'],
    }),
  };
}

function logService(pick: Pick, maybe: Maybe): Value {
  const header = () => ({
    header_name: pick([...HEADERS, ':path', 'cookie']),
    ...maybe({
      during_request: () => false,
      during_response: () => false,
      during_trailer: () => false,
    }),
  });
  return {
    service: pick(SERVICES.slice(0, 12)),
    driver: pick(['http', 'tcp', 'opentelemetry']),
    driver_config: maybe({ additional_log_headers: () => [header(), header()] }),
    ...maybe({
      flush_interval_time: () => pick([1, 2_147_483]),
      flush_interval_byte_size: () => pick([0, 16_777_216]),
    }),
  };
}

function rateLimit(pick: Pick, maybe: Maybe): Value {
  const limit = () => ({
    pattern: pick([
      [],
      [{ generic_key: pick(TEXTS) }],
      [{ remote_address: '*', a: pick(TEXTS) }, { k: '' }],
    ]),
    rate: pick([0, 1, 4_294_967_295]),
    unit: pick(['second', 'Minute', 'HOUR', 'day']),
    ...maybe({
      name: () => pick(TEXTS),
      action: () => pick(['enforce', 'LogOnly']),
      injectRequestHeaders: () => [{ name: pick(HEADERS), value: pick(TEXTS) }],
      injectResponseHeaders: () => [{ name: pick(HEADERS), value: '{{ .RetryAfter }}' }],
      errorResponse: () => ({ bodyTemplate: pick(TEXTS) }),
    }),
  });
  return { domain: pick(DOMAINS), limits: [limit(), limit()] };
}

function proxyConfig(pick: Pick, maybe: Maybe): Value {
  return {
    node_group: 'edge',
    clusters: [
      {
        name: 'c1',
        type: 'static',
        hosts: [{ url: pick(['tcp://127.0.0.1:1', 'tcp://[::1]:1']) }],
        ...maybe(clusterFields(pick)),
      },
      {
        name: 'c2',
        type: 'strict_dns',
        hosts: [{ url: 'tcp://a:1' }, { url: 'tcp://10.0.0.1:2' }],
        ...maybe(clusterFields(pick)),
      },
      {
        name: pick(['sds', 'c3', 'odd name/é%']),
        type: 'sds',
        ...maybe({ service_name: () => pick(['s', ...TEXTS.slice(1)]) }),
      },
    ],
    virtual_hosts: HOSTS.slice(0, pick([0, 1, 2, 5])).map((domain, index) => ({
      name: pick([`v${index}`, `w${index}`, `${index}${pick(TEXTS.slice(1, -1))}`]),
      domains: [domain],
      routes: [
        {
          prefix: pick(PATHS.slice(0, 4)),
          cluster: pick(['c1', 'c2']),
          ...maybe({ timeout_ms: () => pick(NUMBERS), allow_upgrade: () => [pick(UPGRADES)] }),
        },
      ],
    })),
    ...maybe({
      listener: () => ({
        address: pick(['127.0.0.1', '::1', '0.0.0.0']),
        port: pick([8081, 8082]),
      }),
      cluster_manager: () => ({
        sds: {
          cluster: { name: 'own', type: 'static', hosts: [{ url: 'tcp://10.0.0.5:80' }] },
          ...maybe({ refresh_delay_ms: () => pick(NUMBERS.slice(1)) }),
        },
      }),
    }),
  };
}

function clusterFields(pick: Pick): Record<string, () => Value> {
  return {
    features: () => 'http2',
    connect_timeout_ms: () => pick(NUMBERS.slice(1)),
    lb_type: () => 'round_robin',
  };
}
