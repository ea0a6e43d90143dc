import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ApiAnswer, Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { definedKinds } from '../definitions.ts';
import { applyDefinition } from '../testing/objects.ts';

const GROUP = 'gateway.internal';

describe('the kinds of a group', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    await applyDefinition(api.admin, { kind: 'Mapping', plural: 'mappings', version: 'v2' });
  });
  after(() => api?.remove());

  /** What a load balancer answers in place of the API, which it has lost, at these paths. */
  const losing = (answer: ApiAnswer, path: RegExp): Cluster => ({
    ...api.admin,
    call: async request => (path.test(request.path) ? answer : api.admin.call(request)),
  });

  test('are those that the API has, and none of a group that it does not know', async () => {
    assert.deepEqual(await definedKinds(api.admin, GROUP), {
      read: [{ kind: 'Mapping', plural: 'mappings', version: 'v2' }],
      unknown: [],
    });
    assert.deepEqual(await definedKinds(api.admin, 'none.example'), { read: [], unknown: [] });
  });

  for (const [what, answer] of [
    ['no page', { status: 404, body: { message: '<h1>Not Found</h1>' } }],
    ['something else', { status: 200, body: {} }],
  ] as const)
    for (const path of [/^\/apis/, /^\/apis\/gateway\.internal$/, /\/v2$/])
      test(`are not none when a load balancer has ${what} at ${path}`, async () => {
        await assert.rejects(definedKinds(losing(answer, path), GROUP), ClusterError);
      });
});
