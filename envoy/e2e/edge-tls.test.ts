import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { askHttps, handshake, openHttp2, type TlsAsk } from './https-request.ts';
import { request } from './request.ts';
import { CLIENT, host, startTlsSite, type TlsSite } from './tls-site.ts';
import { until } from './until.ts';
import type { Echo } from './upstream.ts';

describe('TLS at the edge', () => {
  let site: TlsSite;
  before(async () => {
    site = await startTlsSite();
  });
  after(() => site?.stop());

  const at: TlsSite['at'] = (...ask) => site.at(...ask);

  const rejects = (t: TestContext, ask: TlsAsk) =>
    assert.rejects(askHttps(ask, '/'), (error: NodeJS.ErrnoException) => {
      t.diagnostic(error.code ?? error.message);
      return true;
    });

  test('a Host answers under its own certificate', async () => {
    const { names, serial } = await handshake(at('shop.example.com', { ca: site.authority.ca }));
    assert.equal(names, 'DNS:shop.example.com');
    assert.ok(serial.length > 0);
    const { body, status } = await askHttps(
      at('shop.example.com', { ca: site.authority.ca }),
      '/x?y',
    );
    const { headers, url } = JSON.parse(body) as Echo;
    assert.deepEqual([status, url, headers['x-forwarded-proto']], [200, '/x?y', 'https']);
  });

  test('the built-in authority issues what a Host has no certificate for', async () => {
    const { names } = await handshake(at('a.example.com', { ca: site.roots() }));
    assert.equal(names, 'DNS:*.example.com');
  });

  for (const [sni, names] of [
    ['SHOP.EXAMPLE.COM', 'DNS:shop.example.com'],
    ['shopexample.com', undefined],
    ['127.0.0.1', undefined],
    ['example.com', undefined],
    [undefined, undefined],
  ] as const) {
    test(`${sni ?? 'no name'} gets ${names ?? 'no certificate'}`, async () => {
      const asked = handshake(at(sni));
      if (names === undefined) await assert.rejects(asked);
      else assert.equal((await asked).names, names);
    });
  }

  test('a name with a dot at its end is that of no Host', async () => {
    // TLS has no such names (RFC 6066, section 3).
    await assert.rejects(handshake(at('shop.example.com.')));
    const { status } = await askHttps(at('shop.example.com'), '/', { host: 'shop.example.com.' });
    assert.equal(status, 200);
  });

  test('HTTP/2 is chosen by ALPN, and HTTP/1.1 where a client knows no other', async () => {
    const chosen = async (sni: string, protocols: readonly string[]) =>
      (await handshake(at(sni, { protocols }))).protocol;
    assert.equal(await chosen('shop.example.com', ['h2', 'http/1.1']), 'h2');
    assert.equal(await chosen('shop.example.com', ['http/1.1']), 'http/1.1');
    assert.equal(await chosen('old.example.com', ['h2', 'http/1.1']), 'http/1.1');
    const connection = await openHttp2(at('shop.example.com'));
    assert.equal((await connection.ask('shop.example.com', '/')).status, 200);
    connection.close();
  });

  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    test(`${version} is refused`, async () => {
      const versions = { min: version, max: version };
      await assert.rejects(
        handshake(at('old.example.com', { versions, ciphers: 'ALL:@SECLEVEL=0' })),
        // The alert of the server, not the error of a client that cannot speak it either.
        { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' },
      );
    });
  }

  test('versions and cipher suites are those of the Host', async () => {
    const only = (version: 'TLSv1.2' | 'TLSv1.3') => ({ min: version, max: version });
    assert.equal((await handshake(at('old.example.com'))).version, 'TLSv1.2');
    assert.equal(
      (await handshake(at('old.example.com'))).cipher,
      'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    );
    assert.equal((await handshake(at('a.example.com'))).version, 'TLSv1.3');
    assert.equal(
      (await handshake(at('shop.example.com', { versions: only('TLSv1.2') }))).version,
      'TLSv1.2',
    );
    await assert.rejects(handshake(at('old.example.com', { versions: only('TLSv1.3') })));
    await assert.rejects(handshake(at('a.example.com', { versions: only('TLSv1.2') })));
    await assert.rejects(
      handshake(
        at('old.example.com', {
          versions: only('TLSv1.2'),
          ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256',
        }),
      ),
    );
  });

  test('a client with a certificate is let in, and the service learns who it is', async () => {
    const certificate = await site.clients.issue(CLIENT);
    const spoofed = { 'x-forwarded-client-cert': 'URI=spiffe://somebody.else' };
    const { body, status } = await askHttps(
      at('partners.example.com', { certificate }),
      '/',
      spoofed,
    );
    const xfcc = (JSON.parse(body) as Echo).headers['x-forwarded-client-cert'] ?? '';
    assert.equal(status, 200);
    assert.match(xfcc, /URI=spiffe:\/\/client\.example\/a/);
    assert.doesNotMatch(xfcc, /somebody/);
  });

  test('a client without one, or with that of another authority or of yesterday, is not', async t => {
    await rejects(t, at('partners.example.com'));
    await rejects(
      t,
      at('partners.example.com', { certificate: await site.authority.issue(CLIENT) }),
    );
    await rejects(
      t,
      at('partners.example.com', { certificate: await site.clients.issue(CLIENT, -30) }),
    );
  });

  test('what a client says about its certificate elsewhere is removed', async () => {
    const headers = {
      'x-forwarded-client-cert': `URI=${CLIENT}`,
      'x-gateway-tls-host': 'partners.example.com',
    };
    const { body } = await askHttps(at('shop.example.com'), '/', headers);
    const got = (JSON.parse(body) as Echo).headers;
    assert.deepEqual(
      [got['x-forwarded-client-cert'], got['x-gateway-tls-host']],
      [undefined, undefined],
    );
  });

  test('a connection of one Host asks for no other, whatever it says of itself', async () => {
    const connection = await openHttp2(at('shop.example.com'));
    for (const authority of [
      'partners.example.com',
      'PARTNERS.example.com:443',
      'a.example.com',
      'unknown.example.org',
    ]) {
      const { body, status } = await connection.ask(authority, '/');
      assert.equal(status, 421, authority);
      assert.doesNotMatch(body, /upstream/);
    }
    connection.close();
    const headers = { host: 'partners.example.com', 'x-gateway-tls-host': 'partners.example.com' };
    const misled = await askHttps(at('shop.example.com'), '/', headers);
    assert.deepEqual(
      [misled.status, misled.headers['strict-transport-security']],
      [421, undefined],
    );
    const plain = await request(site.system.edge, '/', {
      headers: { ...headers, 'x-forwarded-proto': 'https' },
    });
    assert.equal(plain.status, 301);
  });

  test('a request without TLS is sent to https, at its port and with its query', async () => {
    const { headers, status } = await request(site.system.edge, '/x/y?a=b&c', {
      headers: { host: 'shop.example.com:8080' },
    });
    assert.equal(status, 301);
    assert.equal(
      headers.location,
      `https://shop.example.com:${site.system.ports.edgeTls}/x/y?a=b&c`,
    );
    assert.equal(headers['strict-transport-security'], undefined);
  });

  test('or rejected, or served, as its Host says, and an ACME challenge is always served', async () => {
    const ask = (name: string, path = '/') =>
      request(site.system.edge, path, { headers: { host: name } });
    assert.equal((await ask('a.example.com')).status, 403);
    assert.equal((await ask('old.example.com')).status, 200);
    assert.equal((await ask('elsewhere.example.org')).status, 404);
    assert.equal((await ask('127.0.0.1', '/.well-known/acme-challenge/token')).status, 404);
    for (const name of ['shop.example.com', 'a.example.com'])
      assert.equal((await ask(name, '/.well-known/acme-challenge/token')).status, 200);
    assert.equal(
      (await ask('shop.example.com', '/.well-known/acme-challenge/../../x')).status,
      301,
    );
  });

  test('Strict-Transport-Security is said over TLS by the Host that wants it, also in answers of the gateway', async () => {
    const said = async (sni: string, path = '/') =>
      (await askHttps(at(sni), path)).headers['strict-transport-security'];
    assert.equal(await said('shop.example.com'), 'max-age=600; includeSubDomains');
    assert.equal(await said('shop.example.com', '/broken/'), 'max-age=600; includeSubDomains');
    assert.equal(await said('a.example.com'), undefined);
    const early = await askHttps(at('shop.example.com'), '/%2F');
    assert.deepEqual(
      [early.status, early.headers['strict-transport-security']],
      [400, 'max-age=600; includeSubDomains'],
    );
  });

  test('Strict-Transport-Security of the Host that has every name', async () => {
    site.system.write(
      'every.yaml',
      host('every', 'hostname: "*", tls: {issuer: gateway}, hsts: {max_age: 300}'),
    );
    await until(() => handshake(at('localhost')).catch(() => undefined));
    for (const [path, status] of [
      ['/', 200],
      ['/%2F', 400],
    ] as const) {
      const answer = await askHttps(at('localhost'), path);
      assert.deepEqual(
        [answer.status, answer.headers['strict-transport-security']],
        [status, 'max-age=300'],
        path,
      );
    }
  });
});
