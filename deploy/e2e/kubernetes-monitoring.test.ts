import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { edgePod } from '#controlplane/edges/edge-pod.ts';
import { SYSTEM, sampleGateway } from '#controlplane/edges/testing/sample-gateway.ts';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import { CONTAINERS, WORKLOADS } from '../testing/demo-manifests.ts';
import { type Manifest, manifestsOf, ofKind } from '../testing/manifests.ts';
import { type NetworkPolicy, type Selector, selects } from '../testing/network-policies.ts';

type PodMonitor = Manifest & {
  readonly spec: {
    readonly selector: Selector;
    readonly namespaceSelector?: { readonly any: boolean };
    readonly podMetricsEndpoints: readonly [{ readonly port: string; readonly path: string }];
  };
};

type PodTemplate = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly { readonly ports: readonly { readonly name: string }[] }[];
  };
};

describe('the manifests for Prometheus and Grafana', { skip: whyNoKubectl() ?? false }, () => {
  const manifests = whyNoKubectl() === undefined ? manifestsOf('kubernetes/monitoring') : [];

  /** Returns the pods that a PodMonitor finds, each with the number of its port. */
  function found({ spec }: PodMonitor): readonly (readonly [string, number])[] {
    const [{ port }] = spec.podMetricsEndpoints;
    return CONTAINERS.flatMap(([workload, { ports = [] }]) => {
      if (!selects(spec.selector, workload.spec.template.metadata.labels)) return [];
      const named = ports.filter(({ name }) => name === port);
      return named.map(({ containerPort }) => [workload.metadata.name, containerPort] as const);
    });
  }

  test('find every Envoy and every service', () => {
    const monitors = new Map(
      ofKind<PodMonitor>(manifests, 'PodMonitor').map(monitor => [monitor.metadata.name, monitor]),
    );
    const [proxies, services] = ['gateway-proxies', 'gateway-services'].map(name =>
      found(monitors.get(name) as PodMonitor),
    );
    assert.deepEqual(proxies, [
      ['edge', 9902],
      ['user-service', 9902],
    ]);
    assert.deepEqual(services?.map(([name]) => name).sort(), [
      'controlplane',
      'ext-authz',
      'ratelimit-service',
      'sds',
    ]);
  });

  test('find the Envoys of Gateways once, in whatever namespace they are', () => {
    const { metadata, spec } = edgePod(sampleGateway(), SYSTEM) as PodTemplate;
    const finding = ofKind<PodMonitor>(manifests, 'PodMonitor').filter(({ spec: monitor }) => {
      const [{ port }] = monitor.podMetricsEndpoints;
      const isThere = spec.containers.some(({ ports }) => ports.some(({ name }) => name === port));
      return isThere && selects(monitor.selector, metadata.labels);
    });
    assert.deepEqual(
      finding.map(({ metadata, spec }) => [metadata.name, spec.namespaceSelector]),
      [['gateway-edges', { any: true }]],
    );
  });

  test('let Prometheus in to their ports, and to no other', () => {
    const [policy] = ofKind<NetworkPolicy>(manifests, 'NetworkPolicy');
    const [rule] = policy?.spec.ingress ?? [];
    const ports = ofKind<PodMonitor>(manifests, 'PodMonitor').flatMap(found);
    assert.deepEqual(
      rule?.ports?.map(({ port }) => port).sort(),
      [...new Set(ports.map(([, port]) => port))].sort(),
    );
    assert.ok(rule?.from?.every(({ namespaceSelector }) => namespaceSelector !== undefined));
    assert.ok(WORKLOADS.length > 0);
  });

  test('have the dashboards where Grafana looks for them', () => {
    const [map] = ofKind<Manifest & { data: Readonly<Record<string, string>> }>(
      manifests,
      'ConfigMap',
    );
    assert.equal(map?.metadata.labels?.grafana_dashboard, '1');
    const titles = Object.values(map.data).map(
      text => (JSON.parse(text) as { title: string }).title,
    );
    assert.equal(new Set(titles).size, 3);
  });
});
