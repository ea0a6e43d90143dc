import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectCluster } from '#kubernetes/cluster.ts';
import { patientCluster } from './patient-cluster.ts';

const REQUEST = { method: 'GET', path: '/api/v1/pods' } as const;

/** Starts a server in the place of an API server that is busy. */
async function startApi(t: TestContext, answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'patient-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const { port } = server.address() as AddressInfo;
  writeFileSync(kubeconfig, kubeconfigOf(`http://127.0.0.1:${port}`));
  const api = await connectCluster({ kubeconfig });
  t.after(() => {
    api.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const closed = new AbortController();
  return { cluster: patientCluster(api, closed.signal), close: () => closed.abort() };
}

const kubeconfigOf = (server: string) =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    clusters: [{ name: 'a', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  });

test('a call is sent again when its connection is cut or the API is busy, and its answer counts', async t => {
  let requests = 0;
  const { cluster } = await startApi(t, (request, response) => {
    requests += 1;
    if (requests === 1) request.socket.destroy();
    else response.writeHead(requests === 2 ? 429 : requests === 3 ? 500 : 409).end('{}');
  });
  assert.equal((await cluster.call(REQUEST)).status, 409);
  assert.equal(requests, 4);
});

test('a call fails once the node closes', async t => {
  const { cluster, close } = await startApi(t, request => {
    request.socket.destroy();
    close();
  });
  await assert.rejects(cluster.call(REQUEST));
});
