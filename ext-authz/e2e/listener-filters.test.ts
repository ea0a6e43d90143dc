import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bearer as bearerOf,
  guardedGateway,
  jwt,
  own,
  filterRef as ref,
  site,
} from './guarded-gateway.ts';

const listener = (name: string, filters: string) =>
  `{name: ${name}, port: 8000, protocol: HTTP, hostname: "*.${name}.test", filters: {requests: [${filters}]}}`;
const path = (name: string, filters = '') =>
  `{name: ${name}, matches: [{path: {value: /${name}}}], filters: [${filters}], backendRefs: [{name: up, port: 80}]}`;

const chosen = (name: string, header: string) =>
  `{matches: [{path: {value: /chosen}, headers: [${header}]}], filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-route, value: ${name}}]}}], backendRefs: [{name: up, port: 80}]}`;

const EXTERNAL =
  '{type: ExternalAuth, externalAuth: {protocol: GRPC, grpc: {}, backendRef: {name: up, port: 80, namespace: elsewhere}}}';

/** The route has every host of every listener. A request that left its listener would be let in. */
const RESOURCES = [
  ...['front', 'second', 'policy', 'route', 'path'].map(name => jwt(name)),
  jwt('strict', "issuer: 'https://strict.test', "),
  own('Filter', 'rejected', '{JWT: {validAlgorithm: [none]}}'),
  own(
    'FilterPolicy',
    'policy',
    '{targetRefs: [{kind: HTTPRoute, name: site, sectionName: policy}], filters: [{name: policy}]}',
  ),
  own(
    'FilterPolicy',
    'public',
    '{targetRefs: [{kind: HTTPRoute, name: site, sectionName: public}], filters: []}',
  ),
  own(
    'FilterPolicy',
    'path',
    '{rules: [{path: /path/*, filters: [{name: path, onAllow: break}]}]}',
  ),
  site(
    [
      '{name: open, port: 8000, protocol: HTTP}',
      listener('one', ref('front')),
      listener('two', `${ref('front')}, ${ref('second')}`),
      listener('strict', `${ref('front')}, ${ref('strict')}`),
      listener('missing', `${ref('front')}, ${ref('gone')}`),
      listener('rejected', ref('rejected')),
      listener('lost', `${ref('front')}, ${EXTERNAL}`),
    ],
    [
      path('any'),
      path('policy'),
      path('public'),
      path('path'),
      path('named', ref('route')),
      '{matches: [{path: {value: /away}}], filters: [{type: RequestRedirect, requestRedirect: {port: 9}}]}',
      chosen('ada', '{name: x-front, value: ada}'),
      chosen('other', ''),
    ],
  ),
].join('');

const envoy = guardedGateway(RESOURCES);

const bearer = (iss = 'https://any.test') => bearerOf({ sub: 'ada', iss });

const HEADERS = ['front', 'second', 'policy', 'route', 'path'].map(name => `x-${name}`);
const FORGED = Object.fromEntries(HEADERS.map(name => [name, 'root']));

/** What a request tells: the Filters that let it pass, in alphabetical order. */
const IN_FORCE: readonly (readonly [host: string, path: string, filters: readonly string[]])[] = [
  ['one', '/any', ['front']],
  ['one', '/policy', ['front', 'policy']],
  ['one', '/public', ['front']],
  ['one', '/named', ['front', 'route']],
  ['one', '/path/x', ['front', 'path']],
  ['two', '/any', ['front', 'second']],
  ['two', '/named', ['front', 'route', 'second']],
];

for (const [name, path, filters] of IN_FORCE) {
  test(`${name}${path} is for those that ${filters.join(' and ')} let pass`, async () => {
    const host = `a.${name}.test`;
    assert.equal((await envoy.ask(path, { host, headers: FORGED })).status, 401);
    const { headers } = await envoy.echo(path, { host, headers: { ...bearer(), ...FORGED } });
    const said = HEADERS.filter(header => headers[header] === 'ada');
    assert.deepEqual(said.sort(), filters.map(filter => `x-${filter}`).sort());
    assert.ok(filters.every(filter => headers[`x-${filter}`] !== 'root'));
  });
}

test('another listener of the port asks for nothing', async () => {
  assert.equal((await envoy.ask('/any', { host: 'open.test' })).status, 200);
});

for (const [what, path, passed] of [
  ['a path without a route', '/none', 404],
  ['a redirect', '/away', 302],
] as const) {
  test(`the Filters of the listener decide before ${what}`, async () => {
    const host = 'a.one.test';
    assert.equal((await envoy.ask(path, { host })).status, 401);
    assert.equal((await envoy.ask(path, { host, headers: bearer() })).status, passed);
  });
}

test('each Filter of a listener must let a request pass', async () => {
  const ask = (issuer: string) =>
    envoy.ask('/any', { host: 'a.strict.test', headers: bearer(issuer) });
  assert.equal((await ask('https://any.test')).status, 401);
  assert.equal((await ask('https://strict.test')).status, 200);
});

test('the header that a Filter of the listener sets chooses the route', async () => {
  const chosen = async (host: string, headers: Record<string, string>) =>
    (await envoy.ask('/chosen', { host, headers })).headers['x-route'];
  const ada = bearer();
  assert.equal(await chosen('a.one.test', ada), 'ada');
  assert.equal(await chosen('a.one.test', bearerOf({ sub: 'bob' })), 'other');
  assert.equal(await chosen('open.test', { 'x-front': 'ada' }), 'ada');
});

for (const [what, claims] of [
  ['another value than the Filter does', { sub: 'bob' }],
  ['a value where the Filter sets none', {}],
] as const) {
  test(`a client that sends ${what} chooses no route by it`, async () => {
    const headers = { ...bearerOf(claims), 'x-front': 'ada' };
    const answer = await envoy.ask('/chosen', { host: 'a.one.test', headers });
    assert.deepEqual([answer.status, answer.headers['x-route']], [200, 'other']);
    assert.equal(
      (await envoy.ask('/chosen', { host: 'a.one.test', headers: { 'x-front': 'ada' } })).status,
      401,
    );
  });
}

for (const name of ['missing', 'rejected', 'lost']) {
  for (const path of ['/any', '/none']) {
    test(`${name}${path} is closed, whatever is shown`, async () => {
      const asked = { host: `a.${name}.test`, headers: bearer() };
      assert.equal((await envoy.ask(path, asked)).status, 500);
    });
  }
}
