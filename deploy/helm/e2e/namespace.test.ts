import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { makeChart } from '../chart.ts';
import { packChart } from '../pack-chart.ts';
import { forAnyServer, runHelm, WHY_NO_HELM } from './run-helm.ts';

const START_MS = 180_000;

const skip = WHY_NO_HELM || (whyNoKubeApiserver() ?? false);

describe('an installation', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'helm-'));
  const chart = packChart(folder, forAnyServer(makeChart()));
  let api: KubeApiserver;

  before(
    async () => {
      api = await startKubeApiserver();
    },
    { timeout: START_MS },
  );
  after(async () => {
    await api?.remove();
    rmSync(folder, { recursive: true });
  });

  const install = (namespace: string, values: object = {}) =>
    runHelm(
      folder,
      [
        ...['install', 'gateway', chart, '--dry-run=server', '--values', '-'],
        ...['--namespace', namespace, '--kubeconfig', api.kubeconfig],
      ],
      values,
    );

  test('that names no namespace is refused: its policies would close the pods of others', () => {
    for (const namespace of ['default', 'kube-system']) {
      const { status, stderr } = install(namespace);
      assert.notEqual(status, 0, namespace);
      assert.match(stderr, new RegExp(`would close all pods in the namespace ${namespace}: name`));
    }
  });

  test('is let into a namespace of its own, and anywhere without the policies', () => {
    const closed = { networkPolicies: { enabled: false } };
    for (const [namespace, values] of [
      ['gateway', {}],
      ['default', closed],
    ] as const) {
      const { status, stderr } = install(namespace, values);
      assert.equal(status, 0, stderr);
    }
  });
});
