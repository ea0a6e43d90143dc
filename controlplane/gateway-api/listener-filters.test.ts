import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListenerStage, ServedGateway } from './served-gateway.ts';
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
const external = (backend: string, protocol = 'GRPC') =>
  `{type: ExternalAuth, externalAuth: {protocol: ${protocol}, ${protocol.toLowerCase()}: {}, backendRef: {${backend}}}}`;

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

function namesOf(stage: ListenerStage): readonly string[] {
  return 'filters' in stage
    ? stage.filters.map(({ name }) => name)
    : [`${stage.target.protocol}://${stage.target.namespace}/${stage.target.name}`];
}

/** Returns, for each listener, its Filters and why it is closed, and the same of its first rule. */
function told(gateways: readonly ServedGateway[]) {
  return gateways.flatMap(({ listeners }) =>
    listeners.map(({ filters, routes }) => [
      filters?.stages.flatMap(namesOf).join() ?? 'none',
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
      'a 1 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs=False:InvalidListenerFilterRef Conflicted=False',
    ],
    [
      'another kind',
      named('f', 'x.org', 'Odd'),
      'Odd of x.org is not served here. Name a Filter of ours',
      'a 1 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs=False:InvalidListenerFilterRef Conflicted=False',
    ],
    [
      'a service of ExternalAuth that is missing',
      external('name: gone, port: 80'),
      'there is no Service infra/gone',
      'a 1 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs=False:InvalidListenerFilterRef Conflicted=False',
    ],
    [
      'a service of ExternalAuth without that port',
      external('name: s, port: 81'),
      'the Service infra/s has no port 81',
      'a 1 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs=False:InvalidListenerFilterRef Conflicted=False',
    ],
    [
      'a service of ExternalAuth in a namespace that grants no reference',
      external('name: far, namespace: team, port: 80'),
      'no ReferenceGrant in its namespace allows the reference to the Service team/far',
      'a 1 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs=False:RefNotPermitted Conflicted=False',
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

test('a service of ExternalAuth runs in its place, with what the port or the filter speaks', () => {
  const filters = [named('f'), named('f'), external('name: s, port: 80'), named('f')].join();
  assert.deepEqual(told(served(site(filters)).gateways)[0]?.[0], 'f,f,h2c://infra/s,f');
  const http = external('name: s, port: 80', 'HTTP');
  assert.deepEqual(told(served(site(http)).gateways)[0]?.[0], 'http://infra/s');
});

for (const [what, authorities, status, protocol] of [
  ['that holds is kept', 'wellKnownCACertificates: System', 'True', 'open'],
  [
    'that is invalid closes the listener',
    'caCertificateRefs: [{group: "", kind: ConfigMap, name: gone}]',
    'False',
    'the BackendTLSPolicy of a service of ExternalAuth is invalid',
  ],
] as const) {
  test(`a BackendTLSPolicy ${what}, and has the Gateway as an ancestor`, () => {
    const policy = object(
      'BackendTLSPolicy',
      'p',
      `targetRefs: [{group: "", kind: Service, name: s}], validation: {hostname: s.test, ${authorities}}`,
    );
    const api = served(site(external('name: s, port: 80', 'HTTP')) + policy);
    assert.deepEqual(told(api.gateways)[0], ['https://infra/s', protocol, 'open']);
    const found = api.statuses.get('BackendTLSPolicy/infra/p');
    assert.ok(found?.kind === 'Policy');
    assert.deepEqual(
      found.ancestors.map(({ ancestorRef, conditions }) => [
        ancestorRef.name,
        conditions[0]?.status,
      ]),
      [['g', status]],
    );
  });
}

test('a ReferenceGrant for Gateways allows a service of ExternalAuth elsewhere', () => {
  const grant = (kind: string) =>
    object(
      'ReferenceGrant',
      'auth',
      `from: [{group: gateway.networking.k8s.io, kind: ${kind}, namespace: infra}], to: [{group: "", kind: Service}]`,
      { namespace: 'team' },
    );
  const far =
    site(external('name: far, namespace: team, port: 80')) + service('far', '{port: 80}', 'team');
  const isOpen = (kind: string) => told(served(far + grant(kind)).gateways)[0]?.[1];
  assert.equal(isOpen('Gateway'), 'open');
  assert.match(isOpen('HTTPRoute') ?? '', /no ReferenceGrant/);
});

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
