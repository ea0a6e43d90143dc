import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import type { Rule } from '#kubernetes/testing/service-account.ts';
import { GATEWAY_API_VERSIONS } from '#resources/kinds/known-kinds.ts';
import { gatewayApiPlural } from '#resources/kubernetes/testing/gateway-api.ts';
import { type Manifest, manifestsOf, ofKind } from '../testing/manifests.ts';

type Role = Manifest & { readonly rules: readonly Rule[] };
type Binding = Manifest & { readonly roleRef: { readonly name: string } };

describe('the manifests for Gateway API', { skip: whyNoKubectl() ?? false }, () => {
  const manifests = whyNoKubectl() === undefined ? manifestsOf('kubernetes/gateway-api') : [];

  test('let the control plane read every kind, and write the status of those that have one', () => {
    const rules = ofKind<Role>(manifests, 'ClusterRole').flatMap(role => role.rules);
    const ours = rules.filter(({ apiGroups }) => apiGroups.includes('gateway.networking.k8s.io'));
    const granted = (verb: string) =>
      ours
        .filter(({ verbs }) => verbs.includes(verb))
        .flatMap(({ resources }) => resources)
        .sort();
    const plurals = Object.keys(GATEWAY_API_VERSIONS).map(gatewayApiPlural).sort();
    assert.deepEqual(granted('list'), plurals);
    assert.deepEqual(granted('watch'), plurals);
    assert.deepEqual(
      granted('patch'),
      plurals.filter(plural => plural !== 'referencegrants').map(plural => `${plural}/status`),
    );
  });

  test('grant each role in all namespaces, of which all are read', () => {
    const roles = ofKind<Role>(manifests, 'ClusterRole').map(({ metadata }) => metadata.name);
    const bound = ofKind<Binding>(manifests, 'ClusterRoleBinding').map(
      ({ roleRef }) => roleRef.name,
    );
    assert.deepEqual(bound.sort(), roles.sort());
    const text = JSON.stringify(manifests);
    assert.match(text, /\{"name":"RESOURCES_KUBERNETES","value":"\*"\}/);
    assert.match(text, /\{"name":"INSTANCES_KUBERNETES","value":"\*"\}/);
  });
});
