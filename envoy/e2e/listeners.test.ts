import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { askHttps, handshake } from './https-request.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { type Echo, startUpstream } from './upstream.ts';

const document = (kind: string, name: string, spec: string, labels = '') =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}, labels: {${labels}}}\nspec: {${spec}}\n`;

const listener = (name: string, port: number, protocol: string, more: string) =>
  document('Listener', name, `port: ${port}, protocol: ${protocol}, ${more}`);

const ALL = 'hostBinding: {namespace: {from: ALL}}';

/** Sends a request as bytes, and returns all that comes back. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

const get = (host: string) => `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

describe('Listeners of the edge', () => {
  let system: System;
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  const ask = async (port: number, host: string) =>
    request(`http://127.0.0.1:${port}`, '/x', { headers: { host } });

  before(async () => {
    upstream = await startUpstream('upstream');
    const site = [
      document('Mapping', 'all', `prefix: /, rewrite: "", service: '127.0.0.1:${upstream.port}'`),
      document('Host', 'shop', 'hostname: shop.test, tls: {issuer: gateway}', 'reach: public'),
      document('Host', 'inner', 'hostname: inner.test', 'reach: inner'),
    ].join('');
    system = await startSystem({ resources: { 'site.yaml': site } });
    assert.equal((await ask(system.ports.edge, 'inner.test')).status, 200);
    system.write('listeners.yaml', listeners(inside()));
    await until(() => ask(inside(), 'inner.test').catch(() => undefined));
  });
  after(async () => {
    await system?.stop();
    await upstream?.close();
  });

  const secure = () => system.freePort(1);
  const proxied = () => system.freePort(2);
  let moved = 0;
  const inside = () => system.freePort(moved);
  const listeners = (port: number) =>
    [
      listener('inside', port, 'HTTP', `securityModel: XFP, ${ALL}`),
      listener(
        'public',
        secure(),
        'HTTPS',
        'securityModel: XFP, hostBinding: {selector: {matchLabels: {reach: public}}}',
      ),
      listener('balanced', proxied(), 'HTTPPROXY', `securityModel: SECURE, ${ALL}`),
    ].join('');

  test('without TLS a port serves every Host that it binds, and redirects to the port of TLS', async () => {
    assert.equal((await ask(inside(), 'inner.test')).status, 200);
    // The port opens before the routes change.
    await until(async () => {
      const { headers, status } = await ask(inside(), 'shop.test');
      return (
        (status === 301 && headers.location === `https://shop.test:${secure()}/x`) || undefined
      );
    });
    assert.equal((await ask(inside(), 'other.test')).status, 404);
  });

  test('a port of HTTPS serves both kinds of connections, and its own Hosts alone', async () => {
    const at = { port: secure(), sni: 'shop.test' };
    await until(() => handshake(at).catch(() => undefined));
    const { body, status } = await askHttps(at, '/x');
    const { headers } = JSON.parse(body) as Echo;
    assert.deepEqual([status, headers['x-forwarded-proto']], [200, 'https']);
    assert.equal((await ask(secure(), 'shop.test')).status, 301);
    assert.equal((await ask(secure(), 'inner.test')).status, 404);
    assert.equal((await askHttps(at, '/x', { host: 'inner.test' })).status, 421);
    await assert.rejects(handshake({ port: secure(), sni: 'inner.test' }));
  });

  test('a port of the PROXY protocol takes the address of the client from its header', async () => {
    const header = 'PROXY TCP4 203.0.113.9 127.0.0.1 4242 80\r\n';
    const answer = await raw(proxied(), header + get('shop.test'));
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.match(answer, /"x-forwarded-for":\s*"203\.0\.113\.9"/);
  });

  test('a connection without that header ends unanswered', async () => {
    const answer = await raw(proxied(), get('shop.test')).catch(() => '');
    assert.equal(answer, '');
  });

  test('the default addresses are closed', async () => {
    await until(() =>
      ask(system.ports.edge, 'inner.test').then(
        () => undefined,
        () => true,
      ),
    );
  });

  test('while a port moves, the old one or the new one answers', async () => {
    const [old, next] = [system.freePort(0), system.freePort(3)];
    const status = (port: number) => ask(port, 'inner.test').then(answer => answer.status);
    system.write('listeners.yaml', listeners(next));
    const seen = new Set<number>();
    let rounds = 0;
    for (let isMoved = false; !isMoved; rounds++) {
      const answered = await status(old).catch(() => 0);
      if (answered !== 0) seen.add(answered);
      else {
        seen.add(await status(next));
        isMoved = true;
      }
    }
    moved = 3;
    assert.deepEqual([...seen], [200], `${rounds} rounds`);
    assert.equal(await status(next), 200);
  });

  test('a Listener that cannot be read leaves its last good version in force', async () => {
    system.write(
      'listeners.yaml',
      listeners(inside()).replace('protocol: HTTP,', 'protocol: TCP,'),
    );
    await system.statusWhen(({ problems }) =>
      problems.some(({ kind, field }) => kind === 'Listener' && field === 'spec.protocol'),
    );
    assert.equal((await ask(inside(), 'inner.test')).status, 200);
    system.write('listeners.yaml', listeners(inside()));
  });
});
