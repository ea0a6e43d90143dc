import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { startControlPlane } from '../testing/control-plane.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const MAPPING = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: one }
spec: { prefix: /one/, service: one }
`;

/** Returns the address of a server that answers everything so. */
async function answering(t: TestContext, status: number, body = ''): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('gateway status', () => {
  test('shows the resources and that all is well', async t => {
    const address = await startControlPlane(t, await folderOf(t, { 'one.yaml': MAPPING }));
    const { code, stdout, stderr } = await gateway('status', '--address', address);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ready\n(in force|trying) +Mapping\/default\/one {2}.*one\.yaml:1\n$/);
  });

  test('shows a problem with file and line, and fails', async t => {
    const two = MAPPING.replace('name: one', 'name: two').replace('kind: Mapping', 'kind: Maping');
    const files = { 'one.yaml': MAPPING, 'two.yaml': two };
    const address = await startControlPlane(t, await folderOf(t, files));
    const { code, stdout } = await gateway('status', '--address', address);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^error: Mapping default\/two \(.*two\.yaml:2, kind\): .*did you mean `Mapping`\?$/m,
    );
  });

  test('gives programs all of it', async t => {
    const address = await startControlPlane(t, await folderOf(t, { 'one.yaml': MAPPING }));
    const { stdout } = await gateway('status', '--address', address, '--json');
    const { ready, problems, proxies, resources } = JSON.parse(stdout);
    assert.deepEqual([ready, problems, proxies], [true, [], []]);
    assert.equal(resources[0].id, 'Mapping/default/one');
  });

  test('says what to do when no control plane is there', async () => {
    assert.deepEqual(await gateway('status', '--address', '127.0.0.1:1'), {
      code: 1,
      stdout: '',
      stderr:
        'gateway: no control plane answers at 127.0.0.1:1: start one with "npx tollwright up", or say with --address or --port-offset where it is\n',
    });
  });

  test('looks where a gateway with that port offset is', async () => {
    const { code, stderr } = await gateway('status', '--port-offset', '40000');
    assert.equal(code, 1);
    assert.match(stderr, /no control plane answers at 127\.0\.0\.1:48877:/);
  });

  test('shows what a proxy calls itself without acting on the terminal', async t => {
    const proxies = [{ node: 'a\u001b[2J', group: 'b\n', address: '127.0.0.1:1', types: [] }];
    const resources = [{ id: 'Mapping/default/m', state: 'in force', file: 'a.yaml', line: 1 }];
    const status = JSON.stringify({ ready: true, resources, problems: [], proxies });
    const { code, stdout } = await gateway('status', '--address', await answering(t, 200, status));
    assert.equal(code, 0);
    assert.match(stdout, /^ready\n.*\na\\u001b\[2J \(b\\u000a\) at 127\.0\.0\.1:1\n$/);
  });

  test('tells something else from a control plane', async t => {
    for (const [status, words] of [
      [404, /^gateway: what answers at \S+ is not a control plane: /],
      [400, /^gateway: the control plane at \S+ answers 400\n$/],
    ] as const) {
      const address = await answering(t, status);
      const { code, stderr } = await gateway('status', '--address', address);
      assert.equal(code, 1);
      assert.match(stderr, words);
    }
  });
});
