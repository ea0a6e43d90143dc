import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import { askUpgrade } from '#envoy/e2e/web-socket.ts';
import { startWebSocketUpstream } from '#envoy/e2e/websocket-upstream.ts';
import { bearer, CLASS, filterRef, guardedGateway, jwt, own } from './guarded-gateway.ts';

/** A rule of the random routes. `front` is what the listener's Filter must have said. */
type Written = {
  readonly name: string;
  readonly path: string;
  readonly front?: string;
  /** A header that no Filter of the listener sets. */
  readonly free?: string;
  readonly guarded: boolean;
};

const { chance, pick } = chancesOf(5);
const PATHS = ['/', '/a', '/a/b', '/c'] as const;
const WORDS = ['ada', 'bob', 'eve'] as const;

/** One route has at most 16 rules. */
const WRITTEN: readonly Written[] = Array.from({ length: 15 }, (_, index) => ({
  name: `r${index}`,
  path: pick(PATHS),
  ...(chance(0.6) ? { front: pick(WORDS) } : {}),
  ...(chance(0.3) ? { free: pick(WORDS) } : {}),
  guarded: chance(0.3),
}));

const header = (name: string, value: string | undefined) =>
  value === undefined ? [] : [`{name: ${name}, value: ${value}}`];
const told = (name: string) =>
  `{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-rule, value: ${name}}]}}`;
const rule = ({ free, front, guarded, name, path }: Written) =>
  `{matches: [{path: {value: ${path}}, headers: [${[...header('x-front', front), ...header('x-free', free)]}]}], filters: [${[told(name), ...(guarded ? [filterRef('second')] : [])]}], backendRefs: [{name: up, port: 80}]}`;
const cors = (origin: string) => `{type: CORS, cors: {allowOrigins: ["${origin}"]}}`;
const route = (name: string, rules: readonly string[]) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ${name}}\nspec: {parentRefs: [{name: site}], hostnames: [${name}.one.test], rules: [${rules}]}\n`;
const page = (path: string, header: string, filters: string, backend = 'up') =>
  `{matches: [{path: {value: ${path}}, headers: [${header}]}], filters: [${filters}], backendRefs: [{name: ${backend}, port: 80}]}`;
const ADA = '{name: x-front, value: ada}';

const RESOURCES = [
  jwt('front'),
  jwt('second', "issuer: 'https://second.test', "),
  own('Filter', 'other', '{JWT: {validAlgorithms: [none]}}'),
  CLASS,
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec: {gatewayClassName: gateway, listeners: [{name: one, port: 8000, protocol: HTTP, hostname: "*.one.test", filters: {requests: [${filterRef('front')}, ${filterRef('other')}]}}]}
`,
  route('random', WRITTEN.map(rule)),
  route('pages', [
    page('/data', ADA, [cors('https://ada.test'), told('ada')].join()),
    page('/data', '', [cors('https://any.test'), told('any')].join()),
    page('/data/inner', '', told('inner')),
  ]),
  route('sockets', [page('/socket', ADA, '', 'sockets')]),
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls}
spec: {parentRefs: [{name: site}], hostnames: [sockets.one.test], rules: [{matches: [{method: {service: calls}}], backendRefs: [{name: sockets, port: 80}]}]}
`,
].join('');

const gateway = guardedGateway(RESOURCES, async () => {
  const { close, port } = await startWebSocketUpstream();
  return { sockets: { address: `127.0.0.1:${port}`, close } };
});

/** Reads the rules a second time: the longest path first, then more headers, then as written. */
function expected(path: string, front: string | undefined, free: string | undefined) {
  const fits = WRITTEN.filter(
    each =>
      (each.path === '/' || path === each.path || path.startsWith(`${each.path}/`)) &&
      (each.front === undefined || each.front === front) &&
      (each.free === undefined || each.free === free),
  );
  const rank = (each: Written) =>
    each.path.length * 10 + Number(each.front !== undefined) + Number(each.free !== undefined);
  return fits.toSorted((a, b) => rank(b) - rank(a))[0];
}

test('random requests get the route that their token chooses, whatever they send', async () => {
  for (let run = 0; run < 150; run += 1) {
    const path = pick(['/', '/a', '/a/b', '/a/b/c', '/c', '/d', '/ab']);
    const sub = pick([...WORDS, 'none']);
    const iss = pick(['https://second.test', 'https://else.test']);
    const free = chance(0.5) ? pick(WORDS) : undefined;
    const headers = {
      ...bearer({ sub, iss }),
      ...(free === undefined ? {} : { 'x-free': free }),
      ...(chance(0.7) ? { 'x-front': pick(WORDS) } : {}),
      ...(chance(0.3) ? { 'x-gateway-passed': 'yes' } : {}),
    };
    const answer = await gateway.ask(path, { host: 'random.one.test', headers });
    const met = expected(path, sub, free);
    const isOpen = met?.guarded !== true || iss === 'https://second.test';
    const status = met === undefined ? 404 : isOpen ? 200 : 401;
    const what = JSON.stringify({ path, headers, met });
    assert.deepEqual([answer.status, answer.headers['x-rule']], [status, met?.name], what);
  }
});

test('no header of a client leads past the Filters of the listener', async () => {
  for (const headers of [{}, { 'x-front': 'ada' }, { 'x-gateway-passed': 'yes' }]) {
    const answer = await gateway.ask('/a', { host: 'random.one.test', headers });
    assert.deepEqual([answer.status, answer.headers['x-rule']], [401, undefined]);
  }
  const passed = await gateway.echo('/data/inner', {
    host: 'pages.one.test',
    headers: bearer({ sub: 'ada' }),
  });
  assert.equal(passed.headers['x-gateway-passed'], undefined);
});

const preflight = (path: string, more: Record<string, string> = {}) =>
  gateway.ask(path, {
    method: 'OPTIONS',
    host: 'pages.one.test',
    headers: { origin: 'https://any.test', 'access-control-request-method': 'GET', ...more },
  });

test('preflights of a route with CORS need no token, and those of others do', async () => {
  const { headers, status } = await preflight('/data');
  assert.deepEqual([status, headers['access-control-allow-origin']], [200, 'https://any.test']);
  assert.equal((await preflight('/data/inner')).status, 401);
  assert.equal((await preflight('/data/inner', bearer({ sub: 'ada' }))).status, 200);
  assert.equal((await preflight('/data', { origin: '' })).status, 500);
  assert.equal((await preflight('/data', { 'x-gateway-passed': 'yes' })).status, 200);
});

test('answers have the CORS of the route that was chosen', async () => {
  const ask = async (sub: string, origin: string) => {
    const headers = { ...bearer({ sub }), origin, 'x-front': 'eve' };
    const answer = await gateway.ask('/data', { host: 'pages.one.test', headers });
    return [answer.headers['x-rule'], answer.headers['access-control-allow-origin']];
  };
  assert.deepEqual(await ask('ada', 'https://ada.test'), ['ada', 'https://ada.test']);
  assert.deepEqual(await ask('ada', 'https://any.test'), ['ada', undefined]);
  assert.deepEqual(await ask('bob', 'https://any.test'), ['any', 'https://any.test']);
});

test('a WebSocket opens on the route that was chosen, unless that is for calls', async () => {
  const open = async (headers: Record<string, string>, path = '/socket') => {
    const base = `http://127.0.0.1:${gateway.envoy().port}`;
    const asked = { host: 'sockets.one.test', ...headers };
    const { headers: got, socket, status } = await askUpgrade(base, path, 'websocket', asked);
    socket?.destroy();
    return got['grpc-status'] === undefined ? status : `gRPC ${got['grpc-status']}`;
  };
  assert.equal(await open(bearer({ sub: 'ada' })), 101);
  assert.equal(await open({ ...bearer({ sub: 'bob' }), 'x-front': 'ada' }), 404);
  assert.equal(await open({ 'x-front': 'ada' }), 401);
  const call = { 'content-type': 'application/grpc' };
  // PERMISSION_DENIED, which 403 becomes for a call.
  assert.equal(await open({ ...bearer({ sub: 'ada' }), ...call }, '/calls/open'), 'gRPC 7');
});

test('nothing passes while ext-authz is down', async () => {
  await gateway.envoy().service.stop(0);
  const headers = bearer({ sub: 'ada' });
  for (const path of ['/', '/a', '/none'])
    assert.equal((await gateway.ask(path, { host: 'random.one.test', headers })).status, 503);
});
