import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { checkPorts } from './port-check.ts';

describe('a port in use', () => {
  const server: Server = createServer();
  let port = 0;
  before(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  });
  after(() => server.close());

  test('is rejected with its number, the part that wants it, the process that has it and what to do', {
    skip: process.platform !== 'linux',
  }, async () => {
    await assert.rejects(
      checkPorts([{ port, what: 'the edge' }]),
      new RegExp(
        `^Error: Port ${port}, which the edge needs, is in use by \\S+ \\(pid ${process.pid}\\): stop that, or use other ports with --port-offset 100$`,
      ),
    );
  });

  test('that a variable names is one to change there', async () => {
    await assert.rejects(
      checkPorts([{ host: '0.0.0.0', port, what: 'the edge', variable: 'EDGE_ADDRESS' }]),
      /: stop that, or use another in EDGE_ADDRESS$/,
    );
  });

  test('does not matter when no part wants it', async () => {
    await checkPorts([{ port: 0, what: 'anybody' }]);
  });
});
