import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldsAt, listAt } from './fields-at.ts';
import { importObjects } from './import-objects.ts';
import { describeRemark } from './remark.ts';
import { readObjects } from './source-object.ts';
import { check } from './testing/golden-cases.ts';

type Words = Readonly<Record<string, string>>;

/** Imports an Ingress with these annotations, for all paths of one host. */
function imported(annotations: Words, path = '/', to: 'mappings' | 'gateway-api' = 'mappings') {
  const object = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: 'a',
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [
          name.includes('/') ? name : `nginx.ingress.kubernetes.io/${name}`,
          value,
        ]),
      ),
    },
    spec: {
      rules: [
        {
          host: 'a.test',
          http: {
            paths: [
              {
                path,
                pathType: 'ImplementationSpecific',
                backend: { service: { name: 'web', port: { number: 80 } } },
              },
            ],
          },
        },
      ],
    },
  };
  const objects = readObjects('a.yaml', JSON.stringify(object));
  const { documents, remarks } = importObjects(objects, {
    ingressClass: 'nginx',
    to,
    check,
  });
  const mapping = documents.find(({ kind }) => kind === 'Mapping')?.spec ?? {};
  const route = documents.find(({ kind }) => kind === 'HTTPRoute')?.spec ?? {};
  return { mapping, route, effects: remarks.map(({ effect }) => effect), remarks };
}

/** Annotations of an Ingress → what the Mapping has of these fields. */
const FIELDS: readonly (readonly [annotations: Words, fields: object])[] = [
  [
    {},
    { timeout_ms: 60_000, connect_timeout_ms: 5_000, allow_upgrade: ['websocket'], rewrite: '' },
  ],
  [{ 'proxy-read-timeout': '2m' }, { timeout_ms: 120_000, idle_timeout_ms: 120_000 }],
  [{ 'proxy-read-timeout': '9999999' }, { timeout_ms: 2_147_483_647 }],
  [{ 'proxy-read-timeout': '86400000' }, { timeout_ms: 2_147_483_647 }],
  [
    { affinity: 'cookie', 'session-cookie-expires': '31536000' },
    {
      load_balancer: {
        policy: 'ring_hash',
        cookie: { name: 'INGRESSCOOKIE', ttl: '2147483s', path: '/' },
      },
    },
  ],
  [{ 'proxy-next-upstream': 'off' }, { retry_policy: { num_retries: 0 } }],
  [{ 'proxy-next-upstream-tries': '1' }, { retry_policy: { num_retries: 0 } }],
  [
    { 'upstream-hash-by': '$remote_addr' },
    { load_balancer: { policy: 'ring_hash', source_ip: true } },
  ],
  [
    { 'upstream-hash-by': '\u0024{request_uri}' },
    { load_balancer: { policy: 'ring_hash', header: ':path' } },
  ],
  [
    { 'upstream-hash-by': '$cookie_user' },
    { load_balancer: { policy: 'ring_hash', cookie: { name: 'user' } } },
  ],
  [{ 'backend-protocol': 'GRPC' }, { grpc: true, allow_upgrade: undefined }],
  [{ 'backend-protocol': 'HTTPS' }, { service: 'https://web:80' }],
  [{ 'service-upstream': 'true' }, { resolver: 'kubernetes-service', hop_tls: undefined }],
  [{ 'upstream-vhost': 'b.test' }, { host_rewrite: 'b.test' }],
  [{ 'use-regex': 'true' }, { prefix: '(?i)(?:/).*', prefix_regex: true }],
  [
    { 'temporal-redirect': 'https://b.test/x', 'permanent-redirect': 'https://c.test' },
    { service: 'https://b.test', path_redirect: '/x', redirect_response_code: 302 },
  ],
];

describe('an annotation of an Ingress', () => {
  for (const [annotations, fields] of FIELDS)
    test(`${JSON.stringify(annotations)} becomes ${JSON.stringify(fields)}`, () => {
      const { mapping } = imported(annotations);
      for (const [field, value] of Object.entries(fields)) assert.deepEqual(mapping[field], value);
    });
});

const CLOSING: readonly Words[] = [
  { 'auth-url': 'http://auth/' },
  { 'auth-type': 'digest' },
  { 'whitelist-source-range': '0.0.0.0/0' },
  { 'allowlist-source-range': '10.0.0.1' },
  { 'denylist-source-range': '10.0.0.1' },
  { 'enable-owasp-core-rules': 'true' },
  { 'modsecurity-snippet': 'SecRuleEngine On' },
  { 'ssl-passthrough': 'true' },
  { 'auth-tls-secret': 'default/ca' },
  { 'auth-tls-secret': 'default/ca', 'auth-tls-match-cn': 'CN=a' },
  { 'auth-snippet': 'proxy_set_header X-A b;' },
  { 'backend-protocol': 'AJP' },
  { 'rewrite-target': 'https://b.test/$1' },
  { 'rewrite-target': '/x?y=$1' },
  { 'upstream-vhost': 'b test' },
  { 'nginx.org/basic-auth-secret': 'users' },
  { 'nginx.com/jwt-key': 'keys' },
  { 'appprotect.f5.com/app-protect-enable': 'True' },
  { 'haproxy.org/allow-list': '10.0.0.0/8' },
  { 'konghq.com/plugins': 'key-auth' },
  { 'traefik.ingress.kubernetes.io/router.middlewares': 'default-auth@kubernetescrd' },
  { 'ingress.kubernetes.io/auth-type': 'basic' },
  { 'ingress.example.com/auth-url': 'http://auth/' },
  { 'ingress.example.com/auth-tls-secret': 'default/ca' },
];

describe('what restricts and cannot be expressed closes the route', () => {
  for (const annotations of CLOSING)
    test(JSON.stringify(annotations), () => {
      const { effects, mapping } = imported(annotations);
      assert.equal(mapping.closed, true);
      assert.ok(effects.includes('closed'));
    });
});

const OPEN: readonly Words[] = [
  { 'enable-modsecurity': 'false' },
  { 'ssl-passthrough': 'false' },
  { 'whitelist-source-range': '0.0.0.0/0, ::/0' },
  { 'auth-tls-secret': 'default/ca', 'auth-tls-verify-client': 'off' },
  { 'configuration-snippet': 'add_header X-A b;' },
  { 'auth-url': ' ' },
  { 'nginx.org/client-max-body-size': '8m' },
  { 'nginx.org/basic-auth-secret': ' ' },
  { 'cert-manager.io/cluster-issuer': 'letsencrypt' },
  { 'kubernetes.io/ingress.class': 'nginx' },
  { 'external-dns.alpha.kubernetes.io/hostname': 'a.test' },
];

describe('what restricts nothing closes nothing', () => {
  for (const annotations of OPEN)
    test(JSON.stringify(annotations), () =>
      assert.equal(imported(annotations).mapping.closed, undefined),
    );
});

test('a route has times of days in the form of Gateway API', () => {
  const age = { affinity: 'cookie', 'session-cookie-max-age': '172800' };
  const { route } = imported({ ...age, 'proxy-read-timeout': '100001' }, '/', 'gateway-api');
  const [rule] = listAt(route, 'rules');
  assert.equal(fieldsAt(rule, 'timeouts').request, '27h2801s');
  assert.equal(fieldsAt(rule, 'sessionPersistence').absoluteTimeout, '48h0s');
});

test('a route that would be rejected is closed, so that no wider one serves its requests', () => {
  const path = `/${'a'.repeat(1024)}`;
  const annotations = { affinity: 'cookie', 'session-cookie-path': path };
  const { effects, route } = imported(annotations, '/', 'gateway-api');
  assert.deepEqual(route.rules, [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }] }]);
  assert.deepEqual(effects, ['closed']);
});

describe('a path that is no RE2 expression closes what it may cover', () => {
  for (const [path, prefix] of [
    ['/a/(?!b)', '/a/'],
    ['/a/?(?!b)', '/a'],
    ['/ab*(?!b)', '/a'],
    ['/v1.0/(?!b)', '/v1'],
    ['/a|(?!b)', '/'],
  ] as const)
    test(path, () => {
      const { effects, mapping } = imported({ 'use-regex': 'true' }, path);
      assert.deepEqual([mapping.prefix, mapping.closed, effects], [prefix, true, ['closed']]);
      assert.equal(mapping.case_sensitive, prefix === '/' ? undefined : false);
    });
});

describe('an expression finds the paths that `location ~* "^<path>"` of nginx finds', () => {
  for (const [path, finds, leaves] of [
    ['/a|/b', ['/a', '/A/x', '/b', '/x/b', '/x/b/y'], ['/x/a', '/c']],
    ['/a|^/b', ['/ax', '/bx'], ['/x/a', '/x/b']],
    ['/(a|b)|c[|]d', ['/a', '/b', '/x/c|d'], ['/x/a', '/x/c']],
    ['^/a|\\|', ['/a', '/x|'], ['/x/a']],
  ] as const)
    test(path, () => {
      const { effects, mapping } = imported({ 'use-regex': 'true' }, path);
      const expression = new RegExp(`^(?:${String(mapping.prefix).replace('(?i)', '')})$`, 'i');
      assert.deepEqual(effects, []);
      for (const found of finds) assert.match(found, expression);
      for (const left of leaves) assert.doesNotMatch(left, expression);
    });
});

test('copies for a service that no Mapping may name are left out, and close nothing', () => {
  const { effects, mapping } = imported({ 'mirror-target': 'http://a_b:99999$request_uri' });
  assert.deepEqual([mapping.service, mapping.closed, effects], ['web:80', undefined, ['dropped']]);
});

const SAID = {
  'x-forwarded-for': '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%',
  'x-forwarded-scheme': '%REQ(X-FORWARDED-PROTO)%',
  'x-real-ip': '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%',
  'x-scheme': '%REQ(X-FORWARDED-PROTO)%',
};

/** As `add_request_headers` of a Mapping that replaces what is there. */
function replacing(headers: Words): object {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, { value, append: false }]));
}

test('services hear of the client from the gateway alone', () => {
  const { mapping } = imported({});
  assert.deepEqual(mapping.add_request_headers, replacing(SAID));
  assert.deepEqual(mapping.remove_request_headers, ['proxy']);
});

test('a prefix is told beside it', () => {
  const { mapping } = imported({ 'x-forwarded-prefix': '/50%' });
  const all = replacing({ ...SAID, 'x-forwarded-prefix': '/50%%' });
  assert.deepEqual(mapping.add_request_headers, all);
});

test('a header that may not be added is left out alone', () => {
  const { mapping, remarks } = imported({ 'x-forwarded-prefix': 'a\nb' });
  assert.deepEqual(mapping.add_request_headers, replacing(SAID));
  assert.equal(mapping.closed, undefined);
  assert.match(
    describeRemark(remarks[0] ?? assert.fail()),
    /^dropped: Ingress default\/a \(a\.yaml:1, /,
  );
});

test('annotations and words that every object knows are unknown ones', () => {
  const { remarks } = imported({ constructor: 'x', 'proxy-next-upstream': 'toString' });
  assert.deepEqual(remarks.map(({ message }) => message).sort(), [
    'ingress-nginx is not known to read it',
    'toString: no retry is made for these',
  ]);
});

test('each Mapping of an Ingress with the longest name is written', () => {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const ingress = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'a'.repeat(253) },
    spec: {
      rules: [{ host: 'a.test', http: { paths: [{ path: '/x', pathType: 'Prefix', backend }] } }],
    },
  };
  const objects = readObjects('a.yaml', JSON.stringify(ingress));
  const { documents } = importObjects(objects, { ingressClass: 'nginx', to: 'mappings', check });
  const mappings = documents.filter(({ kind }) => kind === 'Mapping');
  assert.deepEqual(
    mappings.map(({ spec }) => spec.prefix),
    ['/x/', '/x'],
  );
});
