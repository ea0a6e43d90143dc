import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, CLASS, filterRef, guardedGateway, jwt, own } from './guarded-gateway.ts';

const policy = (name: string, target: string, filters: string) =>
  own('FilterPolicy', name, `{targetRefs: [{${target}}], filters: [${filters}]}`);
const route = (name: string, parents: string, rules: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ${name}}\nspec: {parentRefs: [${parents}], hostnames: [${name}.test], rules: [${rules}]}\n`;
const rule = (name: string, filters = '') =>
  `{name: ${name}, matches: [{path: {value: /${name}}}], filters: [${filters}], backendRefs: [{name: up, port: 80}]}`;

const SITE = '{name: site}';
const MORE = '{kind: ListenerSet, name: more}';

/** Each policy asks for a Filter of its own name, so the headers tell which one was in force. */
const RESOURCES = [
  ...['gateway', 'listener', 'set', 'route', 'rule', 'own', 'path'].map(name => jwt(name)),
  policy('gateway', 'kind: Gateway, name: site', '{name: gateway}'),
  policy('listener', 'kind: Gateway, name: site, sectionName: narrow', '{name: listener}'),
  policy('set', 'kind: ListenerSet, name: more', '{name: set}'),
  policy('route', 'kind: HTTPRoute, name: shop', '{name: route}'),
  policy('rule', 'kind: HTTPRoute, name: shop, sectionName: narrow', '{name: rule}'),
  policy('public', 'kind: HTTPRoute, name: shop, sectionName: public', ''),
  policy('missing', 'kind: HTTPRoute, name: shop, sectionName: missing', '{name: gone}'),
  policy(
    'conditions',
    'kind: HTTPRoute, name: shop, sectionName: either',
    '{name: rule, ifRequestHeader: {name: x-first}}, {name: route, ifRequestHeader: {name: x-first, negate: true}}',
  ),
  own(
    'FilterPolicy',
    'rejected',
    '{targetRefs: [{kind: HTTPRoute, name: lost, sectionName: lost}], filters: [{nam: gateway}]}',
  ),
  own(
    'FilterPolicy',
    'path',
    '{rules: [{path: /path/*, filters: [{name: path, onAllow: break}]}]}',
  ),
  CLASS,
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: site}
spec:
  gatewayClassName: gateway
  allowedListeners: {namespaces: {from: Same}}
  listeners:
    - {name: wide, port: 8000, protocol: HTTP}
    - {name: narrow, port: 8000, protocol: HTTP, hostname: narrow.test}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec: {parentRef: {name: site}, listeners: [{name: set, port: 8000, protocol: HTTP, hostname: set.test}]}
`,
  route('wide', SITE, rule('any')),
  route('narrow', SITE, rule('any')),
  route('set', MORE, rule('any')),
  route(
    'shop',
    SITE,
    [
      rule('any'),
      rule('narrow'),
      rule('named', filterRef('own')),
      rule('public'),
      rule('missing'),
      rule('either'),
      rule('path'),
      `{matches: [{path: {value: /away}}], filters: [{type: RequestRedirect, requestRedirect: {port: 9}}]}`,
    ].join(),
  ),
  route('lost', SITE, `${rule('lost')}, ${rule('any')}`),
].join('');

const envoy = guardedGateway(RESOURCES);

const { authorization } = bearer({ sub: 'ada' });

/** What a request tells: the Filters that let it pass, in alphabetical order. */
const IN_FORCE: readonly (readonly [host: string, path: string, filters: readonly string[]])[] = [
  ['wide', '/any', ['gateway']],
  ['narrow', '/any', ['listener']],
  ['set', '/any', ['set']],
  ['shop', '/any', ['route']],
  ['shop', '/narrow', ['rule']],
  ['shop', '/named', ['own', 'route']],
  ['shop', '/path/x', ['path', 'route']],
  ['lost', '/any', ['gateway']],
];

const FORGED = Object.fromEntries(
  ['gateway', 'listener', 'set', 'route', 'rule', 'own', 'path'].map(name => [`x-${name}`, 'root']),
);

for (const [name, path, filters] of IN_FORCE) {
  test(`${name}${path} is for those that ${filters.join(' and ')} let pass`, async () => {
    const host = `${name}.test`;
    assert.equal((await envoy.ask(path, { host })).status, 401);
    const { headers } = await envoy.echo(path, { host, headers: { authorization, ...FORGED } });
    const said = Object.keys(FORGED).filter(header => headers[header] === 'ada');
    assert.deepEqual(said.sort(), filters.map(filter => `x-${filter}`).sort());
  });
}

test('a narrower target without Filters lets requests pass, without headers of Filters', async () => {
  const { headers } = await envoy.echo('/public', { host: 'shop.test', headers: FORGED });
  const routeOnly = ['x-route', 'x-rule', 'x-own'].map(name => headers[name]);
  assert.deepEqual(routeOnly, [undefined, undefined, undefined]);
});

test('a condition chooses between Filters', async () => {
  const ask = (more: object) =>
    envoy.echo('/either', { host: 'shop.test', headers: { authorization, ...more } });
  const [first, second] = [await ask({ 'x-first': 'yes' }), await ask({})];
  assert.deepEqual([first.headers['x-rule'], first.headers['x-route']], ['ada', undefined]);
  assert.deepEqual([second.headers['x-rule'], second.headers['x-route']], [undefined, 'ada']);
});

test('a redirect is behind the policy of its route', async () => {
  assert.equal((await envoy.ask('/away', { host: 'shop.test' })).status, 401);
  const asked = { host: 'shop.test', headers: { authorization } };
  assert.equal((await envoy.ask('/away', asked)).status, 302);
});

for (const [name, path] of [
  ['shop', '/missing'],
  ['lost', '/lost'],
] as const) {
  test(`${name}${path} is closed, whatever is shown`, async () => {
    const asked = { host: `${name}.test`, headers: { authorization } };
    assert.equal((await envoy.ask(path, asked)).status, 500);
  });
}
