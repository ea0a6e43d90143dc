import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
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

test('a request that does not name one host is refused on every virtual host, and a CONNECT finds nothing', async t => {
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
    // Only what is before the last colon chooses the virtual host.
    ['one.test:80', 'other.test'],
    ['one.test:', 'other.test'],
    ['one.test:@other.test'],
    ['user@a.example.com'],
    [''],
    ['.'],
  ])
    assert.equal(await get(...hosts), 'HTTP/1.1 400 Bad Request', hosts.join(' and '));
  assert.equal(
    await statusLine(envoy.port, 'CONNECT one.test:443 HTTP/1.1', 'Host: one.test:443'),
    'HTTP/1.1 404 Not Found',
  );
});

test('no host that a client may write ends the requests of others at the proxy beside the instance', async t => {
  const instance = await startEchoServer('instance');
  t.after(() => instance.close());
  const side = await startCompiled(
    proxyConfig('side', instance.address, `listener: {port: ${await freePort()}}`),
    'side',
  );
  t.after(() => side.stop());
  const edge = await startCompiled(
    proxyConfig('edge', `127.0.0.1:${side.port}`, '', ', features: http2'),
  );
  t.after(() => edge.stop());
  const upload = net.connect(edge.port, '127.0.0.1');
  t.after(() => upload.destroy());
  const answer = once(createInterface(upload), 'line');
  upload.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\na');
  for (const host of ['', '.', 'user@a.test', 'a.test:@', '@', 'a.test', '[', '%40', 'a..'])
    await statusLine(edge.port, 'GET / HTTP/1.1', `Host: ${host}`);
  upload.write('b');
  assert.deepEqual(await answer, ['HTTP/1.1 200 OK']);
});

const proxyConfig = (group: string, address: string, listener: string, features = '') => `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: ${group}}
spec:
  node_group: ${group}
  ${listener}
  virtual_hosts: [{name: all, domains: ['*'], routes: [{prefix: /, cluster: next}]}]
  clusters: [{name: next, type: static, hosts: [{url: 'tcp://${address}'}]${features}}]
`;
