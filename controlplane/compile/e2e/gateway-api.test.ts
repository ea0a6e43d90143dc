import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Json, JsonObject } from '#protos/json.ts';
import { type Ask, type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { GATEWAY_EDGE, withPorts } from './gateway-ports.ts';

let blue: Awaited<ReturnType<typeof startEchoServer>>;
let green: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: CompiledEnvoy;

before(async () => {
  [blue, green] = await Promise.all([startEchoServer('blue'), startEchoServer('green')]);
  const addresses = { blue: blue.address, green: green.address, cart: blue.address };
  const change = (bootstrap: JsonObject) => withPorts(withPair(bootstrap), addresses);
  envoy = await startCompiled(RESOURCES, 'edge', change, undefined, { edge: GATEWAY_EDGE });
});

after(async () => {
  await envoy.stop();
  await Promise.all([blue.close(), green.close()]);
});

/** Gives the Service `pair` an instance at each server. */
function withPair(bootstrap: JsonObject): JsonObject {
  const text = JSON.stringify(bootstrap);
  const endpoint = /\{"endpoint":\{"address":\{"socket_address":\{"address":"pair"[^}]*\}\}\}\}/;
  const [one = ''] = endpoint.exec(text) ?? [];
  assert.notEqual(one, '');
  const both = ['blue', 'green'].map(name => one.replace('"pair"', JSON.stringify(name)));
  const whole = JSON.parse(text.replace(endpoint, both.join())) as JsonObject;
  return withoutOld(whole) as JsonObject;
}

/** The listener is one from before the filter of ExternalAuth that a route turns on. */
function withoutOld(json: Json | undefined): Json {
  if (Array.isArray(json))
    return (json as readonly JsonObject[])
      .filter(each => !String(each?.name).startsWith('ExternalAuth/'))
      .filter(each => !JSON.stringify(each?.append ?? '').includes('x-gateway-externals'))
      .map(withoutOld);
  if (typeof json !== 'object' || json === null) return json ?? null;
  return Object.fromEntries(Object.entries(json).map(([key, each]) => [key, withoutOld(each)]));
}

const route = (name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ${name}}\nspec: {parentRefs: [{name: site}], ${spec}}\n`;

const BLUE = 'backendRefs: [{name: blue, port: 80}]';
const GREEN = 'backendRefs: [{name: green, port: 80}]';
const rewrite = (path: string) => `filters: [{type: URLRewrite, urlRewrite: {${path}}}]`;
const prefix = (value: string) => `matches: [{path: {value: ${value}}}]`;

const change = (changes: string) =>
  ['Request', 'Response']
    .map(of => `{type: ${of}HeaderModifier, ${of.toLowerCase()}HeaderModifier: {${changes}}}`)
    .join();
const CANARY = `{name: blue, port: 80, filters: [${change('set: [{name: X-Set, value: backend}, {name: X-Version, value: "2"}], add: [{name: X-Add, value: backend}], remove: [x-gone]')}]}`;

const HOST_OF_BACKEND = `{name: blue, port: 80, ${rewrite('hostname: backend.test')}}`;

const RESOURCES = [
  `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gateway}
spec: {controllerName: gateway.internal/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec:
  gatewayClassName: gateway
  listeners:
    - {name: any, port: 8000, protocol: HTTP}
    - {name: own, port: 8000, protocol: HTTP, hostname: own.test}
    - {name: wide, port: 8000, protocol: HTTP, hostname: '*.wide.test'}
`,
  route('root', `rules: [{${BLUE}}]`),
  route('own', `hostnames: [www.test], rules: [{${prefix('/only')}, ${GREEN}}]`),
  route(
    'paths',
    `hostnames: [paths.test], rules: [{${prefix('/seg')}, ${GREEN}}, {matches: [{path: {type: Exact, value: /exact}}], ${GREEN}}, {matches: [{path: {type: RegularExpression, value: '/r[0-9]+'}}], ${GREEN}}, {matches: [{method: POST, path: {value: /m}}, {path: {value: /m}, headers: [{name: X-Green, value: 'yes'}]}, {path: {value: /m}, queryParams: [{name: green, value: 'yes'}]}], ${GREEN}}, {${BLUE}}]`,
  ),
  route(
    'rewrites',
    `hostnames: [rewrites.test], rules: [{${prefix('/a')}, ${rewrite('path: {type: ReplacePrefixMatch, replacePrefixMatch: /}')}, ${BLUE}}, {${prefix('/b')}, ${rewrite('hostname: inner.test, path: {type: ReplaceFullPath, replaceFullPath: /whole}')}, ${BLUE}}]`,
  ),
  route(
    'shares',
    `hostnames: [shares.test], rules: [{${prefix('/a')}, ${rewrite('hostname: inner.test')}, backendRefs: [{name: blue, port: 80, ${rewrite('path: {type: ReplacePrefixMatch, replacePrefixMatch: /blue}')}}, {name: green, port: 80, weight: 2, ${rewrite('path: {type: ReplaceFullPath, replaceFullPath: /green}')}}, {name: green, port: 80, weight: 0}, {name: green, port: 80}]}]`,
  ),
  route(
    'headers',
    `hostnames: [headers.test], rules: [{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-Set, value: '100%'}], add: [{name: X-Add, value: more}], remove: [x-gone]}}, {type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: X-Answer, value: 'yes'}]}}], ${BLUE}}]`,
  ),
  route(
    'canary',
    `hostnames: [canary.test], rules: [${[
      ['/one', [CANARY]],
      ['/two', [CANARY, CANARY]],
    ].map(
      ([path, backends]) =>
        `{${prefix(String(path))}, filters: [${change('set: [{name: X-Set, value: rule}, {name: X-Gone, value: rule}], add: [{name: X-Add, value: rule}], remove: [X-Version]')}], backendRefs: [${backends}]}`,
    )}]`,
  ),
  route(
    'redirects',
    `hostnames: [redirects.test], rules: [{${prefix('/to')}, filters: [{type: RequestRedirect, requestRedirect: {scheme: https, hostname: other.test, path: {type: ReplacePrefixMatch, replacePrefixMatch: /from}, statusCode: 301}}]}, {${prefix('/secure')}, filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}, {${prefix('/other')}, filters: [{type: RequestRedirect, requestRedirect: {scheme: https, port: 8443}}]}]`,
  ),
  route(
    'sessions',
    `hostnames: [sessions.test], rules: [${[
      [
        '/lasting',
        'cookie: {name: lasting, path: /lasting, lifetimeType: Permanent}, absoluteTimeout: 1500ms',
      ],
      ['/session', 'cookie: {}'],
      ['/header', 'type: Header, header: {name: X-Session}'],
    ].map(
      ([path = '', session]) =>
        `{${prefix(path)}, sessionPersistence: {${session}}, backendRefs: [{name: pair, port: 80}]}`,
    )}]`,
  ),
  route(
    'odd',
    `hostnames: [odd.test], rules: [{${prefix('/retry')}, retry: {attempts: 2, backoff: 0s, codes: [503]}, timeouts: {request: 0s, backendRequest: 0s}, ${BLUE}}, {${prefix('/remove')}, filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [":path", "", x-gone]}}], ${BLUE}}, {${prefix('/away')}, filters: [{type: RequestRedirect, requestRedirect: {path: {type: ReplaceFullPath, replaceFullPath: there}}}]}, {${prefix('/asks')}, filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {}, backendRef: {name: green, port: 80}}}], ${BLUE}}, {${prefix('/cors')}, filters: [{type: CORS, cors: {allowOrigins: ["*"], allowCredentials: true, allowMethods: ["*"], allowHeaders: ["*"], exposeHeaders: ["*", X-Seen]}}], ${BLUE}}]`,
  ),
  route(
    'hosts',
    `hostnames: [hosts.test], rules: [${[
      ['/one', [HOST_OF_BACKEND]],
      ['/two', [HOST_OF_BACKEND, HOST_OF_BACKEND]],
    ].map(
      ([path, backends]) =>
        `{${prefix(String(path))}, ${rewrite('hostname: rule.test')}, backendRefs: [${backends}]}`,
    )}, {${prefix('/path')}, ${rewrite('hostname: rule.test')}, backendRefs: [{name: blue, port: 80, ${rewrite('path: {type: ReplaceFullPath, replaceFullPath: /own}')}}]}]`,
  ),
  route(
    'preflights',
    `hostnames: [preflights.test], rules: [${[
      ['PUT', 'https://put.test'],
      ['DELETE', 'https://delete.test'],
    ].map(
      ([method, origin]) =>
        `{matches: [{method: ${method}, path: {value: /a}}], filters: [{type: CORS, cors: {allowOrigins: ["${origin}"], allowMethods: [${method}]}}], ${BLUE}}`,
    )}, {${prefix('/')}, ${GREEN}}]`,
  ),
  route(
    'broken',
    `hostnames: [broken.test], rules: [{${prefix('/kind')}, backendRefs: [{group: x.test, kind: Odd, name: a}]}, {${prefix('/none')}}, {${prefix('/zero')}, backendRefs: [{name: blue, port: 80, weight: 0}]}]`,
  ),
  route(
    'clear',
    `hostnames: [clear.test], rules: [{${prefix('/cart')}, backendRefs: [{name: cart, port: 80}]}, {${BLUE}}]`,
  ),
  route('pages', `hostnames: [calls.test], rules: [{${GREEN}}]`),
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls}
spec:
  parentRefs: [{name: site}]
  hostnames: [calls.test]
  rules:
    - matches: [{method: {service: calls.Odd}}]
      backendRefs: [{group: x.test, kind: Odd, name: a}]
    - matches: [{method: {service: calls.Zero}}]
      backendRefs: [{name: blue, port: 80, weight: 0}]
    - {}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: cart}
spec:
  targetRefs: [{group: '', kind: Service, name: cart}]
  validation: {hostname: cart.test, wellKnownCACertificates: system}
`,
].join('');

const FORWARDED: readonly { ask: string; with?: Ask; server: string; path?: string }[] = [
  { ask: '/', server: 'blue' },
  { ask: '/only/one', with: { host: 'www.test' }, server: 'green' },
  { ask: '/other', with: { host: 'www.test' }, server: 'blue' },
  { ask: '/seg', with: { host: 'paths.test' }, server: 'green' },
  { ask: '/seg/x', with: { host: 'paths.test' }, server: 'green' },
  { ask: '/segment', with: { host: 'paths.test' }, server: 'blue' },
  { ask: '/exact', with: { host: 'paths.test' }, server: 'green' },
  { ask: '/exact/', with: { host: 'paths.test' }, server: 'blue' },
  { ask: '/r42', with: { host: 'paths.test' }, server: 'green' },
  { ask: '/r', with: { host: 'paths.test' }, server: 'blue' },
  { ask: '/m', with: { host: 'paths.test' }, server: 'blue' },
  { ask: '/m', with: { host: 'paths.test', method: 'POST' }, server: 'green' },
  { ask: '/m', with: { host: 'paths.test', headers: { 'x-green': 'yes' } }, server: 'green' },
  { ask: '/m?green=yes', with: { host: 'paths.test' }, server: 'green' },
  { ask: '/a', with: { host: 'rewrites.test' }, server: 'blue', path: '/' },
  { ask: '/a/b?q', with: { host: 'rewrites.test' }, server: 'blue', path: '/b?q' },
  { ask: '/b/c?q', with: { host: 'rewrites.test' }, server: 'blue', path: '/whole?q' },
];

for (const { ask, with: asked, server, path = ask } of FORWARDED) {
  test(`${asked?.method ?? 'GET'} ${asked?.host ?? ''}${ask} reaches ${server} as ${path}`, async () => {
    const echo = await envoy.echo(ask, asked);
    assert.deepEqual([echo.server, echo.path], [server, path]);
  });
}

test('a request to a listener with a hostname sees no route of a wider one', async () => {
  for (const host of ['own.test', 'a.wide.test', 'b.a.wide.test']) {
    const { status } = await envoy.ask('/', { host });
    // The route without hostnames is attached to all three listeners.
    assert.equal(status, 200, host);
  }
  assert.equal((await envoy.ask('/only', { host: 'own.test' })).status, 200);
});

test('each of several backends gets the path that it asks for, by its share of the requests', async () => {
  const asked = await Promise.all(
    Array.from({ length: 400 }, () => envoy.echo('/a/x', { host: 'shares.test' })),
  );
  const counts = Map.groupBy(asked, ({ path, server }) => `${server} ${path}`);
  const share = (key: string) => (counts.get(key)?.length ?? 0) / asked.length;
  assert.deepEqual([...counts.keys()].sort(), ['blue /blue/x', 'green /a/x', 'green /green']);
  // A quarter, a quarter and a half. The chance of a tenth more or less is 1 to 100,000.
  assert.ok(Math.abs(share('blue /blue/x') - 0.25) < 0.1, `${share('blue /blue/x')}`);
  assert.ok(Math.abs(share('green /a/x') - 0.25) < 0.1, `${share('green /a/x')}`);
});

test('headers are set, added and removed, and a percent sign stays one', async () => {
  const host = 'headers.test';
  const headers = { 'x-set': 'old', 'x-add': 'one', 'x-gone': 'gone' };
  const answer = await envoy.ask('/', { host, headers });
  const echo = JSON.parse(answer.body).headers;
  assert.deepEqual(
    [echo['x-set'], echo['x-add'], echo['x-gone']],
    ['100%', 'one, more', undefined],
  );
  assert.equal(answer.headers['x-answer'], 'yes');
});

for (const path of ['/one', '/two']) {
  test(`what a backend changes comes behind what its rule changes for ${path}`, async () => {
    const headers = { 'x-version': '1', 'x-gone': 'client' };
    const answer = await envoy.ask(path, { host: 'canary.test', headers });
    for (const got of [JSON.parse(answer.body).headers, answer.headers])
      assert.deepEqual(
        ['x-set', 'x-version', 'x-add', 'x-gone'].map(name => got[name]),
        ['backend', '2', 'rule, backend', undefined],
      );
  });
}

test('a backend rewrites the host that its rule rewrites, and else has that of the rule', async () => {
  const hostOf = async (path: string) =>
    (await envoy.echo(path, { host: 'hosts.test' })).headers.host;
  const hosts = await Promise.all(['/one', '/two', '/path'].map(hostOf));
  assert.deepEqual(hosts, ['backend.test', 'backend.test', 'rule.test']);
});

test('a redirect keeps what it does not name', async () => {
  const { headers, status } = await envoy.ask('/to/there?q=1', { host: 'redirects.test' });
  assert.deepEqual([status, headers.location], [301, 'https://other.test/from/there?q=1']);
});

test('a redirect names a port that its scheme does not imply alone', async () => {
  for (const host of ['redirects.test', 'redirects.test:8000']) {
    const to = async (path: string) => (await envoy.ask(path, { host })).headers.location;
    assert.equal(await to('/secure?q=1'), 'https://redirects.test/secure?q=1');
    assert.equal(await to('/other'), 'https://redirects.test:8443/other');
  }
});

for (const path of ['/kind', '/none', '/zero']) {
  test(`a rule without a backend that can be used answers 500 for ${path}`, async () => {
    assert.equal((await envoy.ask(path, { host: 'broken.test' })).status, 500);
  });
}

const CALL = {
  method: 'POST',
  host: 'calls.test',
  headers: { 'content-type': 'application/grpc' },
};
const UNAVAILABLE = '14';

for (const path of ['/calls.Odd/One', '/calls.Zero/One']) {
  test(`a call to a rule without a backend that can be used is answered UNAVAILABLE for ${path}`, async () => {
    assert.equal((await envoy.ask(path, CALL)).headers['grpc-status'], UNAVAILABLE);
  });
}

test('a GRPCRoute without matches has every call of its hosts, and an HTTPRoute all else', async () => {
  assert.equal((await envoy.ask('/any.Service/One', CALL)).headers['grpc-status'], UNAVAILABLE);
  assert.equal((await envoy.echo('/any.Service/One', { host: 'calls.test' })).server, 'green');
});

test('a Service gets no request in the clear while the BackendTLSPolicy for it is rejected', async () => {
  const asked = { host: 'clear.test' };
  assert.equal((await envoy.ask('/shop', asked)).status, 200, 'the policy names another Service');
  assert.equal((await envoy.ask('/cart', asked)).status, 500);
});

test('what no rule of a hostname matches is not found', async () => {
  assert.equal((await envoy.ask('/elsewhere', { host: 'redirects.test' })).status, 200);
  assert.equal((await envoy.ask('/', { host: 'a,b' })).status, 400);
});

const SESSIONS = { host: 'sessions.test' };

for (const [path, cookie] of [
  ['/lasting', /^lasting="[^"]+"; Max-Age=2; Path=\/lasting; HttpOnly$/],
  ['/session', /^gateway-instance-[0-9a-f]{8}="[^"]+"; Path=\/; HttpOnly$/],
] as const) {
  test(`requests with the cookie of ${path} stay with their instance`, async () => {
    const first = await envoy.ask(path, SESSIONS);
    const [set = ''] = first.headers['set-cookie'] ?? [];
    assert.match(set, cookie);
    const { server } = JSON.parse(first.body);
    const headers = { cookie: set.split(';')[0] ?? '' };
    for (let run = 0; run < 6; run += 1) {
      const next = await envoy.ask(path, { ...SESSIONS, headers });
      assert.equal(JSON.parse(next.body).server, server);
      assert.equal(next.headers['set-cookie'], undefined);
    }
  });
}

test('requests with the header of a session stay with their instance, and others do not', async () => {
  const first = await envoy.ask('/header', SESSIONS);
  const headers = { 'x-session': String(first.headers['x-session']) };
  const ask = async (more: Ask) => (await envoy.echo('/header', { ...SESSIONS, ...more })).server;
  const { server } = JSON.parse(first.body);
  const kept = await Promise.all(Array.from({ length: 6 }, () => ask({ headers })));
  assert.deepEqual(new Set(kept), new Set([server]));
  const free = await Promise.all(Array.from({ length: 6 }, () => ask({})));
  assert.deepEqual(new Set(free), new Set(['blue', 'green']));
});

test('values at the edge of what the API allows are served', async () => {
  const odd = { host: 'odd.test', headers: { 'x-gone': 'a' } };
  assert.equal((await envoy.echo('/retry', odd)).server, 'blue');
  assert.equal((await envoy.echo('/remove', odd)).headers['x-gone'], undefined);
  const { headers } = await envoy.ask('/away', odd);
  assert.equal(headers.location, 'http://odd.test:8000/there');
});

test('a route that asks a service is closed on a listener that cannot ask it', async () => {
  for (const value of ['', 'ExternalAuth/0']) {
    const headers = { 'x-gateway-externals': value };
    assert.equal((await envoy.ask('/asks', { host: 'odd.test', headers })).status, 500);
  }
});

test('pages with credentials are told no wildcard', async () => {
  const origin = 'https://page.test';
  const preflight = await envoy.ask('/cors', {
    host: 'odd.test',
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'x-a, x-b',
    },
  });
  const told = (name: string) => preflight.headers[`access-control-allow-${name}`];
  assert.deepEqual(
    [told('origin'), told('credentials'), told('methods'), told('headers')],
    [origin, 'true', 'PUT', 'x-a, x-b'],
  );
  const { headers } = await envoy.ask('/cors', { host: 'odd.test', headers: { origin } });
  assert.equal(headers['access-control-expose-headers'], 'X-Seen');
});

test('a rule with CORS for one method answers the preflights for it, and no service gets them', async () => {
  const host = 'preflights.test';
  const preflight = async (wanted: string, origin: string) => {
    const headers = { origin, 'access-control-request-method': wanted };
    const answer = await envoy.ask('/a', { host, method: 'OPTIONS', headers });
    return [answer.body, answer.headers['access-control-allow-origin']];
  };
  assert.deepEqual(await preflight('PUT', 'https://put.test'), ['', 'https://put.test']);
  assert.deepEqual(await preflight('DELETE', 'https://delete.test'), ['', 'https://delete.test']);
  assert.deepEqual(await preflight('PUT', 'https://delete.test'), ['', undefined]);
  for (const headers of [
    {},
    { 'access-control-request-method': 'PUT' },
    { origin: 'https://put.test' },
  ])
    assert.equal((await envoy.echo('/a', { host, method: 'OPTIONS', headers })).server, 'green');
});
