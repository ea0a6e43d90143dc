import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startControlPlane } from '../testing/control-plane.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const MAPPING = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: one }
spec: { prefix: /one/, service: one }
`;

/** What other servers answer. */
const ANSWERS = [
  [200, '{"ready":true,"services":{}}'],
  [200, '{"request":{"host":"x"}}'],
  [200, '[]'],
  [200, 'hello'],
  [404, 'not found'],
] as const;

describe('a command that asks the control plane', () => {
  for (const command of [
    ['status'],
    ['status', '--json'],
    ['explain', 'GET', '/'],
    ['diff'],
    ['renew', 'site.test'],
  ] as const)
    test(`tells another server from it: ${command.join(' ')}`, async t => {
      const file = join(await folderOf(t, { 'a.yaml': MAPPING }), 'a.yaml');
      const args = command[0] === 'diff' ? [...command, file] : command;
      let answer: (typeof ANSWERS)[number] = ANSWERS[0];
      const server = createServer((request, response) => {
        const [status, body] = answer;
        request.resume().on('end', () => response.writeHead(status).end(body));
      });
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      t.after(() => server.close());
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      // To `renew` 404 says that the console is off.
      const told = ANSWERS.filter(([status]) => command[0] !== 'renew' || status === 200);
      for (answer of told) {
        const { stdout, stderr } = await gateway(...args, '--address', address);
        assert.deepEqual(
          [stdout, stderr],
          [
            '',
            `gateway: what answers at ${address} is not a control plane: say with --address or --port-offset where one serves HTTP, by default at 127.0.0.1:8877\n`,
          ],
          answer[1],
        );
      }
    });

  test('says why a control plane does not answer', async t => {
    const address = await startControlPlane(t, await folderOf(t, { 'a.yaml': MAPPING }));
    // This leads to the loopback, where the control plane answers to names of this machine only.
    const any = address.replace('127.0.0.1', '0.0.0.0');
    const { code, stderr } = await gateway('status', '--address', any);
    assert.deepEqual(
      [code, stderr],
      [
        1,
        `gateway: the control plane at ${any} answers 403: this address answers to names of this machine only, such as 127.0.0.1\n`,
      ],
    );
  });

  test('wants a port, for example that of HTTP', async () => {
    const { code, stderr } = await gateway('status', '--address', '127.0.0.1');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /--address is "127\.0\.0\.1": want host:port, for example 127\.0\.0\.1:8877/,
    );
  });
});
