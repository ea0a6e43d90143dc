import assert from 'node:assert/strict';
import { after as afterAll, before, describe, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import { type Cluster, connectCluster } from '../cluster.ts';
import { ClusterError } from '../cluster-error.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '../testing/kube-apiserver.ts';
import { issueToken, makeServiceAccount } from '../testing/service-account.ts';
import { createObject } from '../write.ts';
import { WriteQueue } from '../write-queue.ts';

const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', namespace: 'default' };
const COUNT = 200;
/** The API server rejects nothing that its admins ask for. */
const ACCOUNT = { namespace: 'default', name: 'writer' };
const RIGHTS = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];

describe('an API server that takes one write at a time', {
  skip: whyNoKubeApiserver() ?? false,
}, () => {
  let api: KubeApiserver;
  let cluster: Cluster;
  before(async () => {
    api = await startKubeApiserver('127.0.0.1', { 'max-mutating-requests-inflight': '1' });
    await makeServiceAccount(api.admin, ACCOUNT, RIGHTS);
    const token = await issueToken(api.admin, ACCOUNT.namespace, ACCOUNT.name);
    const kubeconfig = await api.writeKubeconfig(ACCOUNT.name, token);
    cluster = await connectCluster({ kubeconfig });
  });
  afterAll(async () => {
    cluster?.close();
    await api?.remove();
  });

  test('gets all writes in the end, and few that it has to reject', async () => {
    const left = new Set(Array.from({ length: COUNT }, (_, at) => `map-${at}`));
    const pauses: number[] = [];
    const queue: WriteQueue<string> = new WriteQueue({
      keyOf: name => name,
      write: async name => {
        try {
          await createObject({ cluster, resource: CONFIG_MAPS }, configMap(name));
          left.delete(name);
          return undefined;
        } catch (error) {
          if (!(error instanceof ClusterError)) throw error;
          pauses.push(error.retryAfterMs ?? 0);
          return error.retryAfterMs ?? 0;
        }
      },
      again: () => queue.set([...left]),
      after,
      random: Math.random,
    });
    queue.set([...left]);
    await until(() => left.size === 0 || undefined, 30_000, 'all are written');
    assert.ok(pauses.length > 0 && pauses.length < COUNT, String(pauses.length));
    assert.ok(
      pauses.every(ms => ms === 1_000),
      String(pauses),
    );
  });
});

function configMap(name: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}
