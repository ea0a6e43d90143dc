import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const mappingWith = (fields: object) => ({ prefix: '/user', service: 'user', ...fields });

function read(fields: object): object | undefined {
  const [resource] = parseText(documentOf('Mapping', mappingWith(fields))).resources;
  return resource?.kind === 'Mapping' ? resource.spec : undefined;
}

const READ: readonly [written: object, expected: object][] = [
  [{ load_balancer: {} }, { load_balancer: { policy: 'round_robin', source_ip: false } }],
  [
    { load_balancer: { policy: 'ring_hash', cookie: { name: 'sticky', ttl: '1.2s', path: '/' } } },
    {
      load_balancer: {
        policy: 'ring_hash',
        cookie: { name: 'sticky', ttl: 2000, path: '/' },
        source_ip: false,
      },
    },
  ],
  [
    { load_balancer: { policy: 'ring_hash', cookie: { name: 'sticky', ttl: 0 } } },
    {
      load_balancer: { policy: 'ring_hash', cookie: { name: 'sticky', ttl: 0 }, source_ip: false },
    },
  ],
  [
    { load_balancer: { policy: 'maglev', header: 'Host' } },
    { load_balancer: { policy: 'maglev', header: ':authority', source_ip: false } },
  ],
  [{ circuit_breakers: [{}] }, { circuit_breakers: [{ priority: 'default' }] }],
  [
    {
      circuit_breakers: [{ max_retries: 0 }, { priority: 'high', max_connections: 4_294_967_295 }],
    },
    {
      circuit_breakers: [
        { priority: 'default', max_retries: 0 },
        { priority: 'high', max_connections: 4_294_967_295 },
      ],
    },
  ],
  [
    { keepalive: { time: 100, interval: 10, probes: 9 } },
    { keepalive: { time: 100, interval: 10, probes: 9 } },
  ],
  [{ keepalive: { idle_time: 100, interval: 10 } }, { keepalive: { time: 100, interval: 10 } }],
  [
    { idle_timeout_ms: 0, cluster_idle_timeout_ms: 30_000, cluster_max_connection_lifetime_ms: 1 },
    { idle_timeout_ms: 0, cluster_idle_timeout_ms: 30_000, cluster_max_connection_lifetime_ms: 1 },
  ],
  [
    { enable_ipv4: false, respect_dns_ttl: true },
    { enable_ipv4: false, respect_dns_ttl: true },
  ],
  [
    { shadow: true, weight: 10 },
    { shadow: true, weight: 10 },
  ],
  [
    { grpc: true, priority: 'high' },
    { grpc: true, priority: 'high' },
  ],
];

for (const [written, expected] of READ) {
  test(`a Mapping with ${JSON.stringify(written)} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(read(written), { ...read({}), ...expected });
    assert.deepEqual(problemsOf('Mapping', mappingWith(written)), []);
  });
}

const LIMIT = 'must be an integer from 0 to 4294967295';
const sticky = (cookie: object) => ({ load_balancer: { policy: 'ring_hash', cookie } });

const REFUSED: readonly [written: object, problem: string][] = [
  [
    { load_balancer: { policy: 'random' } },
    'error spec.load_balancer.policy: `policy` must be one of `round_robin`, `least_request`, `ring_hash`, `maglev`, not "random"',
  ],
  [
    { load_balancer: { policy: 'maglev', header: 'x-a', source_ip: true } },
    'error spec.load_balancer.source_ip: `cookie`, `header`, `source_ip` exclude each other. Keep one',
  ],
  [
    { load_balancer: { policy: 'maglev', header: 'x a' } },
    'error spec.load_balancer.header: "x a" is not a header name: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [sticky({}), 'error spec.load_balancer.cookie.name: `name` is required: the name of a cookie'],
  [
    sticky({ name: 'a;b' }),
    'error spec.load_balancer.cookie.name: "a;b" is not the name of a cookie: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  ...['gateway_session.a', 'Gateway_Pending.a~1', 'gateway_xsrf.a', '__Host-gateway_session.a'].map(
    (name): [object, string] => [
      sticky({ name, ttl: '1h' }),
      `error spec.load_balancer.cookie.name: the cookie "${name}" is one of the gateway's own`,
    ],
  ),
  [
    sticky({ name: 'a', ttl: '-1s' }),
    'error spec.load_balancer.cookie.ttl: it must be from 0 to 2147483647 milliseconds',
  ],
  [
    sticky({ name: 'a', path: '/; Secure' }),
    'error spec.load_balancer.cookie.path: "/; Secure" is not the path of a cookie: it begins with "/", without spaces and ";"',
  ],
  [
    { circuit_breakers: [{ max_connections: -1 }] },
    `error spec.circuit_breakers[0].max_connections: \`max_connections\` ${LIMIT}, not -1`,
  ],
  [
    { circuit_breakers: [{ max_requests: 4_294_967_296 }] },
    `error spec.circuit_breakers[0].max_requests: \`max_requests\` ${LIMIT}, not 4294967296`,
  ],
  [
    { circuit_breakers: [{}, { priority: 'default' }] },
    'error spec.circuit_breakers[1].priority: there are limits for the priority `default` already. Keep one',
  ],
  [
    { circuit_breakers: { max_requests: 1 } },
    'error spec.circuit_breakers: `circuit_breakers` must be a list, not a map',
  ],
  [
    { keepalive: { time: 0 } },
    'error spec.keepalive.time: `time` must be an integer from 1 to 32767, not 0',
  ],
  [
    { keepalive: { probes: 128 } },
    'error spec.keepalive.probes: `probes` must be an integer from 1 to 127, not 128',
  ],
  [
    { idle_timeout_ms: -1 },
    'error spec.idle_timeout_ms: `idle_timeout_ms` must be an integer of milliseconds from 0 to 2147483647, not -1',
  ],
  [
    { shadow: true, remove_request_headers: 'x-a' },
    'error spec.remove_request_headers: `remove_request_headers` is not served with `shadow`: the service would get headers that it must not see',
  ],
  [
    { enable_ipv4: false, enable_ipv6: false },
    'error spec.enable_ipv6: without `enable_ipv4` and `enable_ipv6` the service has no address',
  ],
  [{ grpc: 'yes' }, 'error spec.grpc: `grpc` must be `true` or `false`, not "yes"'],
];

for (const [written, problem] of REFUSED) {
  test(`a Mapping with ${JSON.stringify(written)} is rejected`, () => {
    assert.deepEqual(problemsOf('Mapping', mappingWith(written)), [problem]);
    assert.equal(read(written), undefined);
  });
}

const COUNTS = 'counts with the policies `ring_hash` and `maglev` only';

const WARNED: readonly [written: object, problem: string][] = [
  [
    { shadow: true, host_rewrite: 'inner' },
    'warning spec.host_rewrite: `host_rewrite` is that of the Mapping whose requests are copied',
  ],
  [
    { shadow: true, add_request_headers: { 'x-a': 'b' } },
    'warning spec.add_request_headers: `add_request_headers` is that of the Mapping whose requests are copied',
  ],
  [
    { load_balancer: { policy: 'maglev' } },
    'warning spec.load_balancer.policy: requests are spread at random: name a `cookie`, a `header` or `source_ip`',
  ],
  [
    { load_balancer: { cookie: { name: 'a' } } },
    `warning spec.load_balancer.cookie: \`cookie\` ${COUNTS}`,
  ],
  [
    { load_balancer: { policy: 'least_request', header: 'x-a' } },
    `warning spec.load_balancer.header: \`header\` ${COUNTS}`,
  ],
];

for (const [written, problem] of WARNED) {
  test(`a Mapping with ${JSON.stringify(written)} is served with a warning`, () => {
    assert.deepEqual(problemsOf('Mapping', mappingWith(written)), [problem]);
    assert.ok(read(written) !== undefined);
  });
}
