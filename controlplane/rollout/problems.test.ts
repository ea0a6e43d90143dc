import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import type { Problem } from '#resources/problem.ts';
import { closedResource, describeProblem, systemProblem, withoutAlike } from './problems.ts';

const PROBLEM: Problem = {
  severity: 'error',
  kind: 'Mapping',
  namespace: 'shop',
  name: 'users',
  file: 'routes.yaml',
  line: 7,
  field: 'spec.service',
  message: 'it names no host',
};
const { field: _, ...WITHOUT_FIELD } = PROBLEM;

const table: [what: string, problem: Problem, text: string][] = [
  ['a field', PROBLEM, 'error: Mapping shop/users (routes.yaml:7, spec.service): it names no host'],
  ['a resource', WITHOUT_FIELD, 'error: Mapping shop/users (routes.yaml:7): it names no host'],
  [
    'a file',
    { ...WITHOUT_FIELD, kind: '', namespace: '', name: '' },
    'error: (routes.yaml:7): it names no host',
  ],
  [
    'the system',
    systemProblem('Envoy', 'edge', 'rejects its Listener'),
    'error: Envoy edge: rejects its Listener',
  ],
  [
    'a value that breaks lines and has colours',
    { ...PROBLEM, message: '"a\nb\u001b[31m\u0085" is not a host name' },
    'error: Mapping shop/users (routes.yaml:7, spec.service): "a\\u000ab\\u001b[31m\\u0085" is not a host name',
  ],
];
for (const [what, problem, text] of table) {
  test(`a Problem of ${what} is one line`, () => assert.equal(describeProblem(problem), text));
}

describe('warnings that say the same of many resources', () => {
  const warning = (name: string, more: Partial<Problem> = {}): Problem => ({
    ...{ severity: 'warning', kind: 'Filter', namespace: 'default', name, file: 'f.yaml', line: 1 },
    ...{ field: 'spec.OAuth2.protectedOrigins[0].origin', message: 'http without TLS' },
    ...more,
  });
  const many = (count: number, more: Partial<Problem> = {}) =>
    Array.from({ length: count }, (_, index) => warning(`f${index}`, more));

  test('are told once, by the first, with the names of the others', () => {
    const [one, ...more] = withoutAlike(many(35));
    assert.deepEqual(more, []);
    assert.equal(one?.name, 'f0');
    assert.equal(
      one?.message,
      'http without TLS (the same for default/f1, default/f2, default/f3, default/f4, default/f5, and 29 more)',
    );
  });

  test('are told each when they are few, or errors, or say something else', () => {
    assert.equal(withoutAlike(many(3)).length, 3);
    assert.equal(withoutAlike(many(9, { severity: 'error' })).length, 9);
    const own = Array.from({ length: 9 }, (_, index) => warning('f', { message: `line ${index}` }));
    assert.equal(withoutAlike(own).length, 9);
  });

  test('of fields of one list are alike', () => {
    const fields = [0, 1, 2, 3].map(at =>
      warning('f', { field: `spec.OAuth2.protectedOrigins[${at}].origin` }),
    );
    assert.equal(withoutAlike(fields).length, 1);
  });
});

describe('what a proxy rejects', () => {
  const object = (kind: string, spec: string) =>
    resourceSetOf(
      `apiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: a}\nspec: {${spec}}\n`,
    ).resources;
  const PARENT = 'parentRefs: [{name: g}]';

  test('leaves its matches closed when it is a route of a Gateway', () => {
    const backend = 'backendRefs: [{name: s, port: 80}]';
    const rules = `rules: [{matches: [{path: {value: /a}}], ${backend}}]`;
    const [route] = object('HTTPRoute', `${PARENT}, hostnames: [a.test], ${rules}`).httpRoutes;
    assert.ok(route !== undefined);
    const { spec } = closedResource(route).route ?? {};
    assert.ok(spec !== undefined && 'hostnames' in spec);
    assert.deepEqual(spec.hostnames, ['a.test']);
    const [rule] = spec.rules;
    assert.ok(rule !== undefined && 'matches' in rule);
    assert.deepEqual(rule.backendRefs, []);
    assert.equal(rule.matches.length, 1);
  });

  test('keeps what a Host selects from other Hosts, and is closed where it is selected', () => {
    const own = (kind: string, metadata: string, spec: string) =>
      `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: a${metadata}}\nspec: {${spec}}\n`;
    const selector = '{matchLabels: {team: a}}';
    const { hosts, mappings } = resourceSetOf(
      own('Host', '', `hostname: a.test, mappingSelector: ${selector}`) +
        own('Mapping', ', labels: {team: a}', 'prefix: /, service: s'),
    ).resources;
    const [host, mapping] = [...hosts, ...mappings].map(closedResource);
    assert.deepEqual(host?.mappingSelector?.matchLabels, { team: 'a' });
    assert.deepEqual(mapping?.labels, { team: 'a' });
  });

  test('leaves a route of a Gateway its age, by which an older one goes before it', () => {
    const created = '2026-01-01T00:00:00Z';
    const [route] = object('HTTPRoute', PARENT).httpRoutes;
    assert.ok(route !== undefined);
    assert.equal(closedResource({ ...route, metadata: { created } }).created, created);
    assert.equal('created' in closedResource(route), false);
  });

  test('leaves its virtual hosts closed when it is a ProxyConfig', () => {
    const hosts =
      'virtual_hosts: [{name: a, domains: [a.test], routes: [{prefix: /a, cluster: c}]}]';
    const clusters = 'clusters: [{name: c, type: static, hosts: [{url: "tcp://127.0.0.1:80"}]}]';
    const yaml = `apiVersion: gateway.internal/v2\nkind: ProxyConfig\nmetadata: {name: a}\nspec: {node_group: side, ${hosts}, ${clusters}}\n`;
    const [proxyConfig] = resourceSetOf(yaml).resources.proxyConfigs;
    assert.ok(proxyConfig !== undefined);
    assert.deepEqual(closedResource(proxyConfig).virtualHosts, {
      node_group: 'side',
      hosts: [{ domains: ['a.test'], prefixes: ['/a'] }],
    });
  });

  test('leaves its hosts closed when it has listeners', () => {
    const listeners = 'listeners: [{name: a, port: 80, protocol: HTTP, hostname: a.test}]';
    const [gateway] = object('Gateway', `gatewayClassName: c, ${listeners}`).gateways;
    assert.ok(gateway !== undefined);
    const closed = closedResource(gateway);
    assert.deepEqual(
      [closed.gatewayClass, closed.listeners],
      ['c', [{ port: 80, hostname: 'a.test' }]],
    );
    const [set] = object('ListenerSet', `parentRef: {name: g}, ${listeners}`).listenerSets;
    assert.ok(set !== undefined);
    assert.deepEqual(closedResource(set).parent, { name: 'g' });
  });

  test('leaves its Services closed when it says how TLS is spoken to them', () => {
    const targetRefs = 'targetRefs: [{group: "", kind: Service, name: s}]';
    const validation = 'validation: {hostname: a.test, wellKnownCACertificates: System}';
    const [policy] = object('BackendTLSPolicy', `${targetRefs}, ${validation}`).backendTlsPolicies;
    assert.ok(policy !== undefined);
    assert.deepEqual(
      closedResource(policy).targets?.map(({ name }) => name),
      ['s'],
    );
  });
});
