import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';
import { collect } from './collect.ts';

const CLASS =
  'apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\nspec: {controllerName: a.example/b}\n';
const SERVICE =
  'apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: {a: b}}\nspec: {ports: [{port: 80, targetPort: web, nodePort: 3}], selector: {a: b}}\nstatus: {}\n';
const CONFIG_MAP =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {ca.crt: PEM, password: hunter2}\n';
const BUNDLE = (version: string) =>
  `apiVersion: certificates.k8s.io/${version}\nkind: ClusterTrustBundle\nmetadata: {name: b}\nspec: {signerName: a.example/b, trustBundle: PEM}\n`;
const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: n, labels: {team: a}}\n';

const ids = (...documents: readonly string[]) => {
  const { resources, rejected, problems } = collect([parseText(documents.join('---\n'))]);
  assert.deepEqual(problems, []);
  assert.equal(rejected.size, 0);
  return [...resources.keys()];
};

test('what Gateway API refers to is read beside it', () => {
  assert.deepEqual(ids(SERVICE, CLASS, CONFIG_MAP, NAMESPACE), [
    'Service/default/s',
    'GatewayClass//c',
    'ConfigMap/default/m',
    'Namespace//n',
  ]);
});

for (const version of ['v1beta1', 'v1alpha1'])
  test(`a bundle of certificates.k8s.io/${version} belongs to the whole cluster`, () => {
    assert.deepEqual(ids(CLASS, BUNDLE(version)), ['GatewayClass//c', 'ClusterTrustBundle//b']);
  });

test('it is not read without Gateway API', () => {
  assert.deepEqual(ids(SERVICE, CONFIG_MAP, NAMESPACE), []);
});

const ODD: readonly (readonly [text: string, told: string])[] = [
  [
    'apiVersion: v1\nkind: Namespace\n',
    'Namespace  metadata.name: it is not read: `metadata.name` is required',
  ],
  [
    'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: http}]}\n',
    'Service s spec.ports[0].port: it is not read: `port` must be a port',
  ],
  [
    NAMESPACE.replace('team: a', 'team: a, team: b'),
    'Namespace n metadata.labels.team: it is not read: `team` appears twice in one map',
  ],
  [
    BUNDLE('v1beta1').replace(', trustBundle: PEM', ''),
    'ClusterTrustBundle b spec.trustBundle: it is not read: `trustBundle` is required',
  ],
];
for (const [text, told] of ODD) {
  test(`a mistake in it is a warning beside Gateway API alone: ${JSON.stringify(text)}`, () => {
    const { resources, rejected, anonymous, problems } = collect([
      parseText(`${CLASS}---\n${text}`),
    ]);
    assert.deepEqual(
      [[...resources.keys()], rejected.size, anonymous.size],
      [['GatewayClass//c'], 0, 0],
    );
    const lines = problems.map(
      ({ severity, kind, name, field, message }) =>
        `${severity} ${kind} ${name} ${field}: ${message}`,
    );
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.startsWith(`warning ${told}`), lines[0]);
    assert.deepEqual(collect([parseText(text)]).problems, []);
  });
}

for (const text of [
  'apiVersion: serving.example/v1\nkind: Service\nmetadata: {name: s}\nspec: {}\n',
  'kind: Service\nmetadata: {name: s}\n',
  'apiVersion: v1\nkind: ClusterTrustBundle\nmetadata: {name: b}\nspec: {trustBundle: PEM}\n',
  BUNDLE('v7'),
]) {
  test(`what only has its name is no Problem: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(ids(CLASS, text), ['GatewayClass//c']);
  });
}

test('of two with one name the first counts, and no Problem says so', () => {
  assert.deepEqual(ids(CLASS, SERVICE, SERVICE), ['GatewayClass//c', 'Service/default/s']);
});

test('nothing else of a ConfigMap is kept', () => {
  const [map] = parseText(CONFIG_MAP).resources;
  assert.equal(JSON.stringify(map).includes('hunter2'), false);
  assert.deepEqual(map?.document?.data, { 'ca.crt': 'PEM' });
});

test('a change that does not count changes nothing', () => {
  const hashOf = (text: string) => parseText(text).resources[0]?.hash;
  assert.equal(hashOf(SERVICE), hashOf(SERVICE.replace('labels: {a: b}', 'labels: {c: d}')));
  assert.notEqual(hashOf(SERVICE), hashOf(SERVICE.replace('port: 80', 'port: 81')));
  assert.notEqual(hashOf(NAMESPACE), hashOf(NAMESPACE.replace('team: a', 'team: b')));
});

test('a document that broke off is one, too', () => {
  assert.equal(problemLines(parseText('apiVersion: v1\nkind: ConfigMap\ndata: {a: [\n')).length, 1);
});
