import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Ask, type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { type RateLimitStub, startRateLimitStub } from './rate-limit-stub.ts';

let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let limits: RateLimitStub;
let envoy: CompiledEnvoy;

before(async () => {
  [upstream, limits] = await Promise.all([startEchoServer('up'), startRateLimitStub()]);
  envoy = await startCompiled(RESOURCES(upstream.address, limits.address));
});

after(async () => {
  await envoy.stop();
  await Promise.all([upstream.close(), limits.stop()]);
});

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const redirect = (name: string, service: string, spec: string) =>
  document('Mapping', name, `service: '${service}', host_redirect: true, ${spec}`);

const RESOURCES = (upstream: string, limits: string) =>
  [
    document(
      'Module',
      'gateway',
      'config: {xff_num_trusted_hops: 1, default_labels: {gateway: {defaults: [edge]}}}',
    ),
    document('RateLimitService', 'limits', `service: '${limits}', timeout_ms: 2000`),
    redirect('host', 'www.example.com', 'prefix: /host/'),
    redirect('port', 'www.example.com:8080', 'prefix: /port/'),
    redirect('https', 'https://www.example.com', 'prefix: /https/, redirect_response_code: 308'),
    redirect('https-port', 'https://[::1]:8443', 'prefix: /https-port/'),
    redirect(
      'path',
      'www.example.com',
      'prefix: /path/, path_redirect: /new, redirect_response_code: 302',
    ),
    redirect('query', 'www.example.com', "prefix: /query/, path_redirect: '/new?a=b'"),
    redirect(
      'prefix',
      'www.example.com',
      'prefix: /old, prefix_redirect: /, redirect_response_code: 303',
    ),
    redirect('root', 'www.example.com', 'prefix: /root/, prefix_redirect: /v2'),
    redirect(
      'regex',
      'www.example.com',
      `prefix: /re/, regex_redirect: {pattern: '^/re/([a-z.]+)', substitution: '/\\1/v2'}, redirect_response_code: 307`,
    ),
    redirect(
      'headers',
      'www.example.com',
      'prefix: /headers/, add_response_headers: {cache-control: no-store}',
    ),
    redirect('own-host', 'www.example.com', 'prefix: /, host: example.com'),
    document(
      'Mapping',
      'said',
      `prefix: /said/, service: '${upstream}', add_request_headers: {x-forwarded-port: '1234', X-Forwarded-Host: mapped}`,
    ),
    document('Mapping', 'served', `prefix: /served/, service: '${upstream}'`),
    document(
      'Mapping',
      'regex-rewrite',
      `prefix: /api/, service: '${upstream}', regex_rewrite: {pattern: '/v([0-9]+)/', substitution: '/\\1/\\\\/\\0'}`,
    ),
    document(
      'Mapping',
      'auto-host',
      `prefix: /auto/, service: 'localhost:${upstream.split(':')[1]}', auto_host_rewrite: true`,
    ),
    document(
      'FilterPolicy',
      'closed',
      'rules: [{host: example.com, path: /secret}], refused: true',
    ),
  ].join('');

const GUARDED = [
  redirect('guarded', 'www.example.com', 'prefix: /guarded/'),
  redirect('open', 'www.example.com', 'prefix: /open/, bypass_auth: true'),
  document('Filter', 'tokens', "JWT: {jwksURI: 'https://idp.example.com/keys'}"),
  document('FilterPolicy', 'guarded', 'rules: [{filters: [{name: tokens}]}]'),
].join('');

const HTTPS = { headers: { 'x-forwarded-proto': 'https' } };

const CASES: readonly { ask: string; with?: Ask; status: number; location: string }[] = [
  { ask: '/host/x?a=b', status: 301, location: 'http://www.example.com/host/x?a=b' },
  { ask: '/host/', with: HTTPS, status: 301, location: 'https://www.example.com/host/' },
  {
    ask: '/host/',
    with: { host: 'other.test:8080' },
    status: 301,
    location: 'http://www.example.com/host/',
  },
  {
    ask: '/host/',
    with: { method: 'POST', body: 'a' },
    status: 301,
    location: 'http://www.example.com/host/',
  },
  { ask: '/port/', status: 301, location: 'http://www.example.com:8080/port/' },
  { ask: '/https/', status: 308, location: 'https://www.example.com/https/' },
  { ask: '/https/', with: HTTPS, status: 308, location: 'https://www.example.com/https/' },
  { ask: '/https-port/', status: 301, location: 'https://[::1]:8443/https-port/' },
  { ask: '/path/x?a=b', status: 302, location: 'http://www.example.com/new?a=b' },
  { ask: '/query/x?c=d', status: 301, location: 'http://www.example.com/new?a=b' },
  { ask: '/old/x?a=/old', status: 303, location: 'http://www.example.com/x?a=/old' },
  { ask: '/old', status: 303, location: 'http://www.example.com/' },
  { ask: '/old//evil.test', status: 303, location: 'http://www.example.com/evil.test' },
  { ask: '/old/.evil.test', status: 303, location: 'http://www.example.com/.evil.test' },
  { ask: '/root/x', status: 301, location: 'http://www.example.com/v2/x' },
  { ask: '/re/abc/d?q', status: 307, location: 'http://www.example.com/abc/v2/d?q' },
  { ask: '/re/.evil.test', status: 307, location: 'http://www.example.com/.evil.test/v2' },
  {
    ask: '/any',
    with: { host: 'example.com' },
    status: 301,
    location: 'http://www.example.com/any',
  },
];

for (const { ask, with: asked = {}, status, location } of CASES) {
  const how = [asked.method, asked.host, asked.headers === undefined ? undefined : 'https'].filter(
    Boolean,
  );
  test(`${[...how, ask].join(' ')} is sent to ${location} by ${status}`, async () => {
    const answer = await envoy.ask(ask, asked);
    assert.deepEqual([answer.status, answer.headers.location], [status, location]);
  });
}

test('what a policy closes is closed before a redirect', async () => {
  const { headers, status } = await envoy.ask('/secret', { host: 'example.com' });
  assert.deepEqual([status, headers.location], [500, undefined]);
});

test('a filter decides before a redirect: here its service is away', async t => {
  const guarded = await startCompiled(GUARDED, 'edge', undefined, { host: '127.0.0.1', port: 1 });
  t.after(guarded.stop);
  const { headers, status } = await guarded.ask('/guarded/');
  assert.deepEqual([status, headers.location], [503, undefined]);
  assert.equal((await guarded.ask('/open/')).headers.location, 'http://www.example.com/open/');
});

test('a redirect has the headers that its Mapping adds', async () => {
  assert.equal((await envoy.ask('/headers/')).headers['cache-control'], 'no-store');
});

test('limits are asked about what goes to a service, not about redirects', async () => {
  limits.answer({ overall_code: 2 });
  limits.asked();
  assert.equal((await envoy.ask('/host/')).status, 301);
  assert.equal((await envoy.ask('/served/')).status, 429);
  assert.equal(limits.asked().length, 1);
  limits.answer({ overall_code: 1 });
});

test('regex_rewrite replaces each place where its expression is found, not in the query', async () => {
  const { path } = await envoy.echo('/api/v1/v2/x?a=/v3/');
  assert.equal(path, '/api/1/\\//v1/v2/x?a=/v3/');
});

test('with auto_host_rewrite a service sees the name under which it is known', async () => {
  assert.equal(
    (await envoy.echo('/auto/', { host: 'shop.example.com' })).headers.host,
    'localhost',
  );
});

test('what a trusted proxy says of host and port stands', async () => {
  const said = {
    'x-forwarded-host': 'shop.example.com',
    'x-forwarded-port': '8443',
    'x-forwarded-prefix': '/shop',
    forwarded: 'host=shop.example.com',
  };
  const { headers } = await envoy.echo('/served/x', { host: 'inner:8080', headers: said });
  for (const [name, value] of Object.entries(said)) assert.equal(headers[name], value, name);
  assert.equal(headers.host, 'inner:8080');
});

test('where a trusted proxy says nothing of them, they are those of the request', async () => {
  const { headers } = await envoy.echo('/served/x', { host: 'inner:8080' });
  assert.deepEqual(
    [headers['x-forwarded-host'], headers['x-forwarded-port']],
    ['inner:8080', '8080'],
  );
  const plain = await envoy.echo('/served/x', { host: 'inner' });
  assert.deepEqual(
    [plain.headers['x-forwarded-host'], plain.headers['x-forwarded-port']],
    ['inner', undefined],
  );
});

test('a Mapping replaces what the edge says of host and port', async () => {
  const { headers } = await envoy.echo('/said/x', { host: 'inner:8080' });
  assert.deepEqual([headers['x-forwarded-host'], headers['x-forwarded-port']], ['mapped', '1234']);
});

for (const [httpsPort, port] of [
  [443, ''],
  [8443, ':8443'],
] as const) {
  test(`a Host without TLS is sent to https on ${httpsPort} from any port`, async t => {
    const hosts = document(
      'Host',
      'all',
      "hostname: '*', requestPolicy: {insecure: {action: Redirect}}",
    );
    const redirecting = await startCompiled(hosts, 'edge', undefined, undefined, { httpsPort });
    t.after(() => redirecting.stop());
    for (const from of ['', ':80', ':8080']) {
      const { headers, status } = await redirecting.ask('/x?a', { host: `shop.test${from}` });
      assert.equal(status, 301);
      assert.equal(new URL(String(headers.location)).href, `https://shop.test${port}/x?a`, from);
    }
  });
}
