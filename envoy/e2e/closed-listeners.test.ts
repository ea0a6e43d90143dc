import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { askHttps, handshake, openHttp2 } from './https-request.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { secret } from './tls-site.ts';
import { until } from './until.ts';
import { startUpstream } from './upstream.ts';

const object = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const ISSUED = 'tls: {options: {gateway.internal/issuer: gateway}}';
const MISSING = 'tls: {certificateRefs: [{name: narrow}]}';
const NO_KIND = 'allowedRoutes: {kinds: [{kind: TCPRoute}]}';

/** Spellings of hosts of listeners that cannot be served. */
const CLOSED = ['closed.test', 'CLOSED.Test', 'a.sub.test', 'b.a.sub.test', 'named.sub.test'];

describe('a listener that cannot be served', () => {
  let system: System;
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  const plain = () => system.freePort(1);
  const secure = () => system.freePort(2);

  before(async () => {
    upstream = await startUpstream('upstream');
    system = await startSystem({ resources: {} });
    const listener = (name: string, port: number, more: string) =>
      `{name: ${name}, port: ${port}, ${more}}`;
    const listeners = [
      listener('wide', plain(), 'protocol: HTTP'),
      listener('narrow', plain(), `protocol: HTTP, hostname: closed.test, ${NO_KIND}`),
      listener('sub', plain(), 'protocol: SCTP, hostname: "*.sub.test"'),
      listener('open', plain(), 'protocol: HTTP, hostname: open.sub.test'),
      listener('wide-tls', secure(), `protocol: HTTPS, ${ISSUED}`),
      listener('narrow-tls', secure(), `protocol: HTTPS, hostname: closed.test, ${MISSING}`),
      listener('sub-tls', secure(), `protocol: HTTPS, hostname: "*.sub.test", ${MISSING}`),
      listener('open-tls', secure(), `protocol: HTTPS, hostname: open.sub.test, ${ISSUED}`),
    ];
    const rules = `rules: [{backendRefs: [{name: localhost, port: ${upstream.port}}]}]`;
    system.write(
      'site.yaml',
      [
        object('GatewayClass', 'gateway', 'controllerName: gateway.internal/gateway-controller'),
        object('Gateway', 'site', `gatewayClassName: gateway, listeners: [${listeners.join()}]`),
        object('HTTPRoute', 'any', `parentRefs: [{name: site}], ${rules}`),
        object(
          'HTTPRoute',
          'named',
          `parentRefs: [{name: site}], hostnames: [named.sub.test, closed.test], ${rules}`,
        ),
      ].join(''),
    );
    await until(async () => (await ask('other.test').catch(() => 0)) === 200 || undefined);
    await until(() => handshake({ port: secure(), sni: 'other.test' }).catch(() => undefined));
  });
  after(async () => {
    await system?.stop();
    await upstream?.close();
  });

  const ask = async (host: string) =>
    (await request(`http://127.0.0.1:${plain()}`, '/x', { headers: { host } })).status;

  test('leaves its hosts to no wider listener without TLS', async () => {
    for (const host of CLOSED)
      for (const spelling of [host, `${host}.`, `${host}:80`, `${host}.:80`])
        assert.equal(await ask(spelling), 404, spelling);
  });

  test('takes no host from others, nor from a narrower one', async () => {
    for (const host of [
      'other.test',
      'sub.test',
      'x.closed.test',
      'open.sub.test',
      'OPEN.sub.test.',
    ])
      assert.equal(await ask(host), 200, host);
  });

  test('ends connections that ask for its hosts', async () => {
    for (const sni of CLOSED) await assert.rejects(handshake({ port: secure(), sni }), sni);
    for (const sni of ['other.test', 'x.closed.test', 'open.sub.test', undefined])
      await handshake({ port: secure(), ...(sni === undefined ? {} : { sni }) });
  });

  test('has its hosts answered on no connection for another host', async () => {
    const others = ['other.test', 'open.sub.test', 'closed.test.', undefined];
    for (const sni of others)
      for (const host of [...CLOSED, 'closed.test.', 'closed.test:443']) {
        const at = { port: secure(), ...(sni === undefined ? {} : { sni }) };
        const { status } = await askHttps(at, '/x', { host });
        assert.ok(status === 421 || status === 404, `${sni} for ${host}: ${status}`);
      }
    const open = await openHttp2({ port: secure(), sni: 'other.test' });
    assert.equal((await open.ask('other.test', '/x')).status, 200);
    assert.equal((await open.ask('closed.test', '/x')).status, 421);
    assert.equal((await open.ask('named.sub.test', '/x')).status, 421);
    open.close();
  });

  test('is served as soon as it can be', async () => {
    const authority = await testAuthority();
    system.write('secret.yaml', secret('narrow', await authority.issue('closed.test')));
    const at = { port: secure(), sni: 'closed.test' };
    const served = async () => (await askHttps(at, '/x').catch(() => undefined))?.status;
    await until(async () => (await served()) === 200 || undefined);
    assert.equal((await askHttps(at, '/x', { host: 'other.test' })).status, 421);
  });
});
