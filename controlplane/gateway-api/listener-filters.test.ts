import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServedGateway } from './served-gateway.ts';
import { CLASS, gateway, object, service } from './testing/documents.ts';
import { served } from './testing/served.ts';
import { statusLines } from './testing/told.ts';

const FILTER = `apiVersion: gateway.internal/v2
kind: Filter
metadata: {name: f, namespace: infra}
spec: {JWT: {jwksURI: 'https://keys.test/keys', injectRequestHeaders: [{name: X-User, value: a}]}}
---
`;
const named = (name: string, group = 'gateway.internal', kind = 'Filter') =>
  `{type: ExtensionRef, extensionRef: {group: ${group}, kind: ${kind}, name: ${name}}}`;
const EXTERNAL =
  '{type: ExternalAuth, externalAuth: {protocol: GRPC, grpc: {}, backendRef: {name: s, port: 80}}}';

const site = (filters: string) =>
  CLASS +
  FILTER +
  service('s') +
  gateway(
    'g',
    `listeners: [{name: a, port: 80, protocol: HTTP, filters: {requests: [${filters}]}}, {name: b, port: 81, protocol: HTTP}]`,
  );
const route = (header: string, parent = '{name: g}') =>
  object(
    'HTTPRoute',
    'r',
    `parentRefs: [${parent}], rules: [{matches: [{headers: [{name: ${header}, value: a}]}], backendRefs: [{name: s, port: 80}]}]`,
  );

/** Returns, for each listener, its Filters and why it is closed, and the same of its first rule. */
function told(gateways: readonly ServedGateway[]) {
  return gateways.flatMap(({ listeners }) =>
    listeners.map(({ filters, routes }) => [
      filters?.filters.map(({ name }) => name).join() ?? 'none',
      filters?.broken ?? 'open',
      routes[0]?.rules[0]?.broken ?? 'open',
    ]),
  );
}

test('the Filters of a listener are those of each of its routes', () => {
  const api = served(site(`${named('f')}, ${named('f')}`) + route('x-other'));
  assert.deepEqual(told(api.gateways), [
    ['f,f', 'open', 'open'],
    ['none', 'open', 'open'],
  ]);
  const [a] = api.gateways[0]?.listeners ?? [];
  assert.deepEqual(a?.routes[0]?.rules[0]?.listener, a?.filters);
  assert.deepEqual(api.problems, []);
});

const CLOSED: readonly (readonly [what: string, filter: string, fault: string, status: string])[] =
  [
    [
      'a Filter that is missing',
      named('gone'),
      'there is no Filter infra/gone',
      'a 1 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs=False:BackendNotFound Conflicted=False',
    ],
    [
      'another kind',
      named('f', 'x.org', 'Odd'),
      'Odd of x.org is not served here. Name a Filter of ours',
      'a 1 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs=False:InvalidKind Conflicted=False',
    ],
    [
      'ExternalAuth',
      EXTERNAL,
      'the filter ExternalAuth is not served here',
      'a 1 [HTTPRoute,GRPCRoute] Accepted=False:UnsupportedValue ResolvedRefs Conflicted=False',
    ],
  ];

for (const [what, filter, fault, status] of CLOSED) {
  test(`${what} closes the listener, which stays served`, () => {
    const api = served(site(`${named('f')}, ${filter}`) + route('x-other'));
    assert.deepEqual(told(api.gateways), [
      ['f', fault, fault],
      ['none', 'open', 'open'],
    ]);
    assert.equal(statusLines(api, 'Gateway/infra/g')[1], status);
    assert.deepEqual(
      api.problems.map(({ message }) => message),
      [fault],
    );
  });
}

for (const header of ['X-User', 'x_user']) {
  test(`no route behind the listener is chosen by ${header}, which a Filter sets`, () => {
    const api = served(site(named('f')) + route(header));
    const fault = `the Filter infra/f of the listener Gateway/infra/g/a sets the header ${header}, and a route cannot be chosen by it`;
    assert.deepEqual(told(api.gateways), [
      ['f', 'open', fault],
      ['none', 'open', 'open'],
    ]);
    assert.deepEqual(
      api.problems.map(({ field, message }) => [field, message]),
      [['spec.rules[0].matches[0].headers[0]', fault]],
    );
  });
}

test('a ListenerSet names Filters of its own namespace', () => {
  const set = (filter: string) =>
    object(
      'ListenerSet',
      'more',
      `parentRef: {name: g, namespace: infra}, listeners: [{name: c, port: 82, protocol: HTTP, filters: {requests: [${named(filter)}]}}]`,
      { namespace: 'team' },
    );
  const own = FILTER.replace('name: f, namespace: infra', 'name: t, namespace: team');
  const parent =
    CLASS +
    gateway(
      'g',
      'listeners: [{name: a, port: 80, protocol: HTTP}], allowedListeners: {namespaces: {from: All}}',
    );
  const listeners = ['t', 'f'].map(
    name => told(served(parent + FILTER + own + set(name)).gateways)[1],
  );
  assert.deepEqual(listeners, [
    ['t', 'open', 'open'],
    ['', 'there is no Filter team/f', 'open'],
  ]);
});

test('a route is not accepted on the listener alone whose Filters set what it is chosen by', () => {
  const parents = '{name: g, sectionName: a}, {name: g, sectionName: b}';
  const { statuses } = served(site(named('f')) + route('x-user', parents));
  const status = statuses.get('HTTPRoute/infra/r');
  assert.ok(status?.kind === 'Route');
  assert.deepEqual(
    status.parents.map(({ conditions }) => conditions[0]?.reason),
    ['UnsupportedValue', 'Accepted'],
  );
});
