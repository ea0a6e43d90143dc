import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';

/** Returns the first line of the answer to exactly these lines, on a connection of their own. */
async function statusLine(port: number, ...lines: readonly string[]): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
  const [first] = await once(createInterface(socket), 'line');
  // Envoy itself would keep it for another second.
  socket.destroy();
  return first;
}

test('a request that names several hosts is refused where no Filter runs, under any wildcard, and a CONNECT finds nothing', async t => {
  const service = await startEchoServer('service');
  t.after(() => service.close());
  const envoy = await startCompiled(
    ['*', '*.example.com', 'one.test']
      .map(
        (host, at) => `---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: m${at}}
spec: {host: '${host}', prefix: /, service: '${service.address}'}
`,
      )
      .join(''),
  );
  t.after(() => envoy.stop());
  const get = (...hosts: readonly string[]) =>
    statusLine(envoy.port, 'GET / HTTP/1.1', ...hosts.map(host => `Host: ${host}`));
  for (const host of ['one.test', 'a.example.com', 'other.test:8080'])
    assert.equal(await get(host), 'HTTP/1.1 200 OK', host);
  for (const hosts of [
    ['one.test', 'other.test'],
    ['one.test', 'one.test'],
    ['other.test', 'a.example.com'],
    ['other.test:80', 'a.example.com:443'],
    ['one.test,other.test'],
  ])
    assert.equal(await get(...hosts), 'HTTP/1.1 400 Bad Request', hosts.join(' and '));
  assert.equal(
    await statusLine(envoy.port, 'CONNECT one.test:443 HTTP/1.1', 'Host: one.test:443'),
    'HTTP/1.1 404 Not Found',
  );
});
