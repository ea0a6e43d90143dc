import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import { startGrpcAuth, startHttpAuth } from './external-auth-servers.ts';
import { bearer, CLASS, filterRef, guardedGateway, jwt } from './guarded-gateway.ts';

const { chance, pick } = chancesOf(9);

type Asked = 'grpc' | 'http';

/** A rule of the random route. */
type Written = {
  readonly path: string;
  /** Whether a Filter of ours decides too. */
  readonly own: boolean;
  readonly asks: readonly Asked[];
  readonly redirects: boolean;
};

/** One route has at most 16 rules. */
const WRITTEN: readonly Written[] = Array.from({ length: 14 }, (_, index) => ({
  path: `/r${index}`,
  own: chance(0.4),
  asks: pick<readonly Asked[]>([[], ['grpc'], ['http'], ['grpc', 'http'], ['http', 'grpc']]),
  redirects: chance(0.2),
}));

const external = (protocol: Asked, settings = '', more = '', service = `name: ${protocol}-auth`) =>
  `{type: ExternalAuth, externalAuth: {protocol: ${protocol.toUpperCase()}, ${protocol}: {${settings}}, ${more} backendRef: {${service}, port: 80}}}`;
const NAMED = 'allowedHeaders: [x-answer], allowedResponseHeaders: [X-Tenant]';
const asking = (protocol: Asked) => external(protocol, protocol === 'http' ? NAMED : '');

const rule = (
  path: string,
  filters: readonly string[],
  ends = 'backendRefs: [{name: up, port: 80}]',
) => `{matches: [{path: {value: ${path}}}], filters: [${filters}], ${ends}}`;
const REDIRECT = '{type: RequestRedirect, requestRedirect: {port: 9}}';
const route = (name: string, rules: readonly string[]) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ${name}}\nspec: {parentRefs: [{name: site}], hostnames: [${name}.open.test, ${name}.staged.test], rules: [${rules}]}\n`;

const RESOURCES = [
  jwt('user'),
  jwt('front'),
  CLASS,
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec:
  gatewayClassName: gateway
  listeners:
    - {name: open, port: 8000, protocol: HTTP}
    - {name: staged, port: 8000, protocol: HTTP, hostname: "*.staged.test", filters: {requests: [${filterRef('front')}]}}
`,
  route(
    'random',
    WRITTEN.map(({ asks, own, path, redirects }) => {
      const filters = [...asks.map(asking), ...(own ? [filterRef('user')] : [])];
      return redirects ? rule(path, [...filters, REDIRECT], '') : rule(path, filters);
    }),
  ),
  route('own', [
    rule('/prefix', [external('http', `path: /auth/, ${NAMED}`)]),
    rule('/some', [external('grpc', 'allowedHeaders: [x-answer]')]),
    rule('/grpc-body', [external('grpc', '', 'forwardBody: {maxSize: 8},')]),
    rule('/http-body', [external('http', NAMED, 'forwardBody: {maxSize: 8},')]),
    rule('/down', [external('grpc', '', '', 'name: down')]),
    rule('/http-down', [external('http', '', '', 'name: down')]),
    rule('/elsewhere', [external('grpc', '', '', 'name: grpc-auth, namespace: other')]),
    rule('/kind', [external('http', '', '', 'name: grpc-auth, kind: Odd')]),
    rule('/closed', [external('http', '', '', 'name: no-tls')]),
    rule('/', ['{type: CORS, cors: {allowOrigins: ["https://any.test"]}}', asking('http')]),
  ]),
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: no-tls}
spec:
  targetRefs: [{group: "", kind: Service, name: no-tls}]
  validation: {hostname: a.test, caCertificateRefs: [{group: "", kind: ConfigMap, name: none}]}
`,
].join('');

let servers: { readonly [name in Asked]: Awaited<ReturnType<typeof startHttpAuth>> };

const gateway = guardedGateway(RESOURCES, async () => {
  servers = { grpc: await startGrpcAuth(), http: await startHttpAuth() };
  const down = { address: '127.0.0.1:1', close: async () => {} };
  return { 'grpc-auth': servers.grpc, 'http-auth': servers.http, down };
});

type Sent = Readonly<Record<string, string>>;

const ask = (
  path: string,
  headers: Sent,
  more: { host?: string; method?: string; body?: string } = {},
) => gateway.ask(path, { host: 'own.open.test', headers, ...more });

for (const listener of ['open', 'staged'] as const) {
  test(`random requests of the listener ${listener} pass all that their rule names, in order`, async () => {
    for (let run = 0; run < 100; run += 1) {
      const { asks, own, path, redirects } = pick(WRITTEN);
      const answer = pick(['deny', 'plain', 'gold']);
      const hasToken = chance(0.7);
      const headers = {
        'x-answer': answer,
        'x-tenant': 'forged',
        'x-gateway-externals': 'forged',
        ...(hasToken ? bearer({ sub: 'ada' }) : {}),
      };
      const found = await ask(path, headers, { host: `random.${listener}.test` });
      const passes = hasToken || !(own || listener === 'staged');
      const isDenied = asks.length > 0 && answer === 'deny';
      const status = passes ? (isDenied ? 403 : redirects ? 302 : 200) : 401;
      const what = JSON.stringify({ asks, own, path, redirects, headers });
      assert.equal(found.status, status, what);
      if (status !== 200) continue;
      const echo = JSON.parse(found.body);
      const tenant = asks.length > 0 && answer !== 'plain' ? answer : undefined;
      assert.equal(echo.headers['x-tenant'], tenant, what);
      assert.equal(echo.headers['x-gateway-externals'], undefined);
      if (own && asks.includes('grpc')) assert.equal(servers.grpc.last().headers['x-user'], 'ada');
    }
  });
}

test('a service that is down closes its rule, and another that cannot be named answers 500', async () => {
  for (const path of ['/down', '/http-down'])
    assert.equal((await ask(path, { 'x-answer': 'plain' })).status, 503);
  for (const path of ['/elsewhere', '/kind', '/closed'])
    assert.equal((await ask(path, { 'x-answer': 'plain' })).status, 500);
});

test('a service gets its path, the headers that are allowed and the body', async () => {
  const headers = { 'x-answer': 'plain', 'x-a': 'a' };
  assert.equal((await ask('/prefix/x', headers)).status, 200);
  const { headers: got, path } = servers.http.last();
  assert.deepEqual([path, got['x-answer'], got['x-a']], ['/auth/prefix/x', 'plain', undefined]);
  await ask('/some', headers);
  assert.deepEqual(Object.keys(servers.grpc.last().headers), ['x-answer']);
  for (const name of ['grpc', 'http'] as const) {
    const sent = (body: string) => ask(`/${name}-body`, headers, { method: 'POST', body });
    assert.equal((await sent('8 bytes.')).status, 200);
    assert.equal(servers[name].last().body, '8 bytes.');
    assert.equal((await sent('9 bytes..')).status, 413);
  }
});

test('a preflight needs no service, and pages of the origin may read what one denies', async () => {
  const headers = { origin: 'https://any.test', 'access-control-request-method': 'GET' };
  const answer = await ask('/', { ...headers, 'x-answer': 'deny' }, { method: 'OPTIONS' });
  assert.deepEqual(
    [answer.status, answer.headers['access-control-allow-origin']],
    [200, 'https://any.test'],
  );
  const denied = await ask('/', { ...headers, 'x-answer': 'deny' });
  assert.deepEqual(
    [denied.status, denied.headers['access-control-allow-origin']],
    [403, 'https://any.test'],
  );
});
