import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATEWAY_API_VERSIONS } from '#resources/kinds/known-kinds.ts';
import { gatewayApiPlural, gatewayApiRoles } from '#resources/kubernetes/testing/gateway-api.ts';
import { DEFINITIONS, supportedVersion } from './bundle-versions.ts';

function told(...versions: readonly (string | undefined)[]): string | undefined {
  const [condition] = supportedVersion(
    new Map(versions.map((version, index) => [`kind${index}`, version])),
  );
  return condition && `${condition.status} ${condition.reason}`;
}

test('the definitions of all kinds that are read are asked for, with the right to no others', () => {
  const plurals = Object.keys(GATEWAY_API_VERSIONS).map(gatewayApiPlural).sort();
  assert.deepEqual(DEFINITIONS, plurals);
  const rules = gatewayApiRoles().flatMap(
    role => (role as { rules?: readonly Record<string, readonly string[]>[] }).rules ?? [],
  );
  const ours = rules.filter(({ resources }) => resources?.includes('customresourcedefinitions'));
  assert.deepEqual(ours, [
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: plurals.map(plural => `${plural}.gateway.networking.k8s.io`),
      verbs: ['get'],
    },
  ]);
});

test('a version is supported when every definition has one that is known', () => {
  const [yes, no] = ['True SupportedVersion', 'False UnsupportedVersion'];
  assert.equal(told('v1.7.0', 'v1.7.0'), yes);
  assert.equal(told('v1.1.0', 'v1.5.12'), yes);
  for (const other of [
    undefined,
    '',
    'v1.8.0',
    'v1.0.0',
    'v2.1.0',
    'v1.7.0-rc.1',
    'v1.70.0',
    '1.7.0',
  ])
    assert.equal(told('v1.7.0', other), no, other);
});

test('the message has the versions of the cluster and those that are supported', () => {
  const versions = new Map([
    ['gateways', 'v1.7.0'],
    ['httproutes', 'v1.7.0'],
    ['tcproutes', undefined],
  ]);
  assert.equal(
    supportedVersion(versions)[0]?.message,
    'The definitions have v1.7.0 (gateways, httproutes) and no version (tcproutes). Versions v1.1 to v1.7 are supported',
  );
});

test('nothing is told of what is not known', () => {
  assert.deepEqual(supportedVersion(undefined), []);
  assert.deepEqual(supportedVersion(new Map()), []);
});
