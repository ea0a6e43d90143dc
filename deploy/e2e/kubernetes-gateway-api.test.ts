import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import type { Rule } from '#kubernetes/testing/service-account.ts';
import { GATEWAY_API_VERSIONS } from '#resources/kinds/known-kinds.ts';
import { gatewayApiPlural } from '#resources/kubernetes/testing/gateway-api.ts';
import { ROOT } from '../testing/compose-file.ts';
import { clusterCommands } from '../testing/install-commands.ts';
import { type Manifest, manifestsOf, ofKind } from '../testing/manifests.ts';

const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;

function documentsIn(path: string): readonly Manifest[] {
  const text = readFileSync(join(ROOT, 'deploy', path), 'utf8');
  return parseAllDocuments(text).map(document => document.toJS());
}

type Role = Manifest & { readonly rules: readonly Rule[] };
type Binding = Manifest & { readonly roleRef: { readonly name: string } };

describe('the manifests for Gateway API', { skip: whyNoKubectl() ?? false }, () => {
  const manifests = whyNoKubectl() === undefined ? manifestsOf('kubernetes/gateway-api') : [];

  test('let the control plane read every kind, write the status of those that have one, and keep classes in use', () => {
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
    const withStatus = plurals.filter(plural => plural !== 'referencegrants');
    assert.deepEqual(
      granted('patch'),
      [...withStatus.map(plural => `${plural}/status`), 'gatewayclasses'].sort(),
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

  test('stand in the commands of an upgrade with all that they need, and nothing takes them back', () => {
    const applied = clusterCommands('docs/how-to/upgrade.md', 'On Kubernetes')
      .filter(command => command.startsWith('kubectl apply'))
      .slice(1)
      .flatMap(command => [...command.matchAll(/ -([fk]) deploy\/(\S+)/g)])
      .map(([, how, path = '']) => (how === 'k' ? manifestsOf(path) : documentsIn(path)));
    const names = new Set(applied.flat().map(nameOf));
    assert.deepEqual(
      manifestsOf('kubernetes')
        .map(nameOf)
        .filter(name => !names.has(name)),
      [],
    );
    const planes = applied.flat().filter(each => nameOf(each) === 'Deployment controlplane');
    assert.equal(planes.length, 1);
    assert.match(JSON.stringify(planes), /\{"name":"RESOURCES_KUBERNETES","value":"\*"\}/);
  });
});
