import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type Ask, type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';

let blue: Awaited<ReturnType<typeof startEchoServer>>;
let green: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: CompiledEnvoy;

before(async () => {
  [blue, green] = await Promise.all([startEchoServer('blue'), startEchoServer('green')]);
  envoy = await startCompiled(RESOURCES(blue.address, green.address));
});

after(async () => {
  await envoy.stop();
  await Promise.all([blue.close(), green.close()]);
});

const mapping = (name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const BEHIND_A_PROXY =
  'apiVersion: gateway.internal/v2\nkind: Module\nmetadata: {name: gateway}\nspec: {config: {use_remote_address: false}}\n';

const RESOURCES = (blue: string, green: string) =>
  [
    mapping('user', `prefix: /user, service: '${blue}'`),
    mapping('kept', `prefix: /kept, rewrite: "", service: '${blue}'`),
    mapping('exact', `prefix: /exact, prefix_exact: true, rewrite: /one, service: '${blue}'`),
    mapping('below', `prefix: /below/, rewrite: /v1, service: '${blue}'`),
    mapping('odd', `prefix: '/a+b', rewrite: '/\\1/', service: '${blue}'`),
    mapping('regex', `prefix: '/item/[0-9]+', prefix_regex: true, service: '${blue}'`),
    mapping('posted', `prefix: /kept, rewrite: "", method: POST, service: '${green}'`),
    mapping(
      'tenant',
      `prefix: /kept, rewrite: "", headers: {x-tenant: green}, service: '${green}'`,
    ),
    mapping('host', `host: green.example.com, prefix: /, service: '${green}', host_rewrite: inner`),
    mapping(
      'expression',
      `host: '^shop\\.(test|example\\.org)$', host_regex: true, prefix: /, service: '${green}'`,
    ),
    mapping(
      'named',
      `prefix: /kept, rewrite: "", headers: {Host: named.test}, service: '${green}'`,
    ),
    mapping('hosts', `host: '*.example.com', prefix: /, service: '${blue}'`),
    mapping('stable', `prefix: /canary/, service: '${blue}'`),
    mapping('canary', `prefix: /canary/, service: '${green}', weight: 25`),
    mapping('down', `prefix: /down/, service: '127.0.0.1:1'`),
    mapping('refused', `prefix: /kept/refused/, service: 'ftp://x'`),
    `---
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: refused}
spec:
  node_group: edge
  virtual_hosts: [{name: users, domains: [users.test], routes: [{prefix: /kept/users, cluster: c}]}]
  clusters: [{name: c, type: static, connect_timeout_ms: 0, hosts: [{url: 'tcp://${green}'}]}]
`,
    `---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: {name: closed}
spec: {rules: [{host: '*.example.com', path: /admin/*}, {path: /secret.txt}], refused: true}
`,
  ].join('');

const FORWARDED: readonly { ask: string; with?: Ask; server: string; path: string }[] = [
  { ask: '/user/health', server: 'blue', path: '/health' },
  { ask: '/user', server: 'blue', path: '/' },
  { ask: '/user?a=/user/b', server: 'blue', path: '/?a=/user/b' },
  { ask: '/user/user/x', server: 'blue', path: '/user/x' },
  { ask: '/username', server: 'blue', path: '/name' },
  { ask: '/kept/x', server: 'blue', path: '/kept/x' },
  { ask: '/kept//./y/../x', server: 'blue', path: '/kept/x' },
  { ask: '/exact?q', server: 'blue', path: '/one?q' },
  { ask: '/below/x', server: 'blue', path: '/v1/x' },
  { ask: '/a+b/x', server: 'blue', path: '/\\1/x' },
  { ask: '/item/42?q', server: 'blue', path: '/item/42?q' },
  { ask: '/kept/x', with: { method: 'POST' }, server: 'green', path: '/kept/x' },
  { ask: '/kept/x', with: { headers: { 'X-Tenant': 'green' } }, server: 'green', path: '/kept/x' },
  { ask: '/x', with: { host: 'green.example.com' }, server: 'green', path: '/x' },
  { ask: '/x', with: { host: 'GREEN.example.com.:8080' }, server: 'green', path: '/x' },
  { ask: '/x', with: { host: 'green.example.com:odd' }, server: 'green', path: '/x' },
  { ask: '/x', with: { host: 'Shop.example.org:8443' }, server: 'green', path: '/x' },
  { ask: '/kept/x', with: { host: 'named.test:81' }, server: 'green', path: '/kept/x' },
  { ask: '/x', with: { host: 'other.shop.example.com' }, server: 'blue', path: '/x' },
  { ask: '/kept/x', with: { host: 'users.test' }, server: 'blue', path: '/kept/x' },
  { ask: '/kept/users/x', server: 'blue', path: '/kept/users/x' },
  { ask: '/user/x', with: { host: 'green.example.com' }, server: 'blue', path: '/x' },
];

for (const { ask, with: asked = {}, server, path } of FORWARDED) {
  test(`${asked.method ?? 'GET'} ${asked.host ?? ''}${ask} reaches ${server} as ${path}`, async () => {
    const echo = await envoy.echo(ask, asked);
    assert.deepEqual([echo.server, echo.path], [server, path]);
  });
}

const ANSWERED: readonly { ask: string; with?: Ask; status: number; why: string }[] = [
  { ask: '/nowhere', status: 404, why: 'no route' },
  { ask: '/exact/more', status: 404, why: 'only the exact path' },
  { ask: '/item/x', status: 404, why: 'the expression is for the whole path' },
  { ask: '/kept/refused/x', status: 500, why: 'its Mapping is refused' },
  { ask: '/kept/%2e%2e/kept/refused/x', status: 500, why: 'paths are normalised first' },
  {
    ask: '/kept/users/x',
    with: { host: 'users.test' },
    status: 500,
    why: 'its ProxyConfig is refused',
  },
  { ask: '/secret.txt', status: 500, why: 'its policy is refused' },
  { ask: '/secret.txt;v=1?q', status: 500, why: 'path parameters do not lead around a rule' },
  { ask: '/x/..;/secret.txt', status: 500, why: 'nor do hidden dot segments' },
  { ask: '/%73ecret.txt', status: 500, why: 'nor does percent-encoding' },
  {
    ask: '/admin/x',
    with: { host: 'any.example.com' },
    status: 500,
    why: 'the policy is for that host',
  },
  {
    ask: '/admin/x',
    with: { host: 'Green.Example.Com:80' },
    status: 500,
    why: 'a host has no case',
  },
  { ask: '/admin/x', with: { host: 'any.example.com:81' }, status: 500, why: 'nor a port' },
  {
    ask: '/admin/x',
    with: { host: 'example.org' },
    status: 404,
    why: 'the policy is for another host',
  },
  { ask: '/kept/a%2Fb', status: 400, why: 'escaped slashes are refused' },
  {
    ask: '/kept/x',
    with: { headers: { x_tenant: 'a' } },
    status: 400,
    why: '_ and - are confused upstream',
  },
];

for (const { ask, with: asked = {}, status, why } of ANSWERED) {
  test(`${asked.host ?? ''}${ask} is answered ${status}: ${why}`, async () => {
    assert.equal((await envoy.ask(ask, asked)).status, status);
  });
}

test('a closed route says so in JSON, and nothing may keep that answer', async () => {
  const { headers, body } = await envoy.ask('/secret.txt');
  const { request_id, ...told } = JSON.parse(body);
  assert.match(request_id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(told, {
    message: 'This route is closed: its configuration has an error.',
    status_code: 500,
  });
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['cache-control'], 'no-store');
});

test('the service sees the host that host_rewrite gives', async () => {
  assert.equal((await envoy.echo('/x', { host: 'green.example.com' })).headers.host, 'inner');
});

for (const [host, sent, port] of [
  ['localhost', 'localhost', '80'],
  ['localhost:8080', 'localhost:8080', '8080'],
  ['LocalHost.:8080', 'LocalHost:8080', '8080'],
  ['[::1]:8443', '[::1]:8443', '8443'],
  ['[::1]', '[::1]', '80'],
  ['127.0.0.1', '127.0.0.1', '80'],
  ['8080', '8080', '80'],
  ['localhost:', 'localhost:', '80'],
  ['localhost:123456', 'localhost:123456', '80'],
  ['localhost:80a', 'localhost:80a', '80'],
  ['localhost:80:', 'localhost:80:', '80'],
  ['localhost:80:81', 'localhost:80:81', '81'],
] as const) {
  test(`the service sees ${host} as the client sent it, without its dot`, async () => {
    const { headers } = await envoy.echo('/kept/x', {
      host,
      headers: { 'x-forwarded-host': 'evil.test', 'x-forwarded-port': '1' },
    });
    assert.deepEqual(
      [headers.host, headers['x-forwarded-host'], headers['x-forwarded-port']],
      [sent, sent, port],
    );
  });
}

test('a client reaches no service with its own Forwarded or X-Forwarded-Prefix', async () => {
  const said = {
    forwarded: 'for=1.2.3.4;host=evil.test;proto=https',
    'x-forwarded-prefix': '/evil',
  };
  const { headers } = await envoy.echo('/kept/x', { headers: said });
  for (const name of Object.keys(said)) assert.equal(headers[name], undefined, name);
});

test('behind a trusted proxy too, the access log has the path that a client asked for', async t => {
  const behind = await startCompiled(`${BEHIND_A_PROXY}${RESOURCES(blue.address, green.address)}`);
  t.after(() => behind.stop());
  const headers = { 'x-envoy-original-path': '/said' };
  const echo = await behind.echo('/kept/x', { headers });
  assert.equal(echo.headers['x-envoy-original-path'], undefined);
  assert.equal((await behind.ask('/nowhere/x', { headers })).status, 404);
  const logged = await until(() => {
    const paths = [...behind.log().matchAll(/"path":"([^"]*)"/g)].map(([, path]) => path);
    return paths.length > 1 ? paths : undefined;
  });
  assert.deepEqual(logged, ['/kept/x', '/nowhere/x']);
});

test('what a client claims of its address and scheme does not count', async () => {
  const { headers } = await envoy.echo('/kept/x', {
    headers: {
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '1.2.3.4',
      'x-envoy-internal': 'true',
    },
  });
  assert.equal(headers['x-forwarded-proto'], 'http');
  assert.doesNotMatch(
    String(headers['x-forwarded-for']),
    /1\.2\.3\.4$/,
    "the last is the connection's",
  );
});

test('a quarter of the requests go to the canary', async () => {
  const echoes = await Promise.all(Array.from({ length: 400 }, () => envoy.echo('/canary/x')));
  const canary = echoes.filter(({ server }) => server === 'green').length;
  // Five standard deviations of a binomial distribution with n = 400, p = 0.25.
  assert.ok(Math.abs(canary - 100) < 44, `${canary} of 400`);
});

test('a service that is down is answered 503, and clients see nothing of the retry', async () => {
  const { status, headers } = await envoy.ask('/down/x');
  assert.equal(status, 503);
  assert.equal(headers['x-gateway-retriable'], undefined);
});
