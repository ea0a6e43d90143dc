import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type TestAuthority, testAuthority } from '#protos/testing/test-authority.ts';
import { askHttps, handshake, openHttp2, type TlsAsk } from './https-request.ts';
import { promised } from './promised.ts';
import { getJson, request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { type Echo, startUpstream, type Upstream } from './upstream.ts';

type Pair = Awaited<ReturnType<TestAuthority['issue']>>;

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const host = (name: string, spec: string) => document('Host', name, spec);

const base64 = (text: string) => Buffer.from(text).toString('base64');

const secret = (name: string, { ca, certificate, key }: Pair) =>
  `---\napiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\ntype: kubernetes.io/tls\ndata: {tls.crt: ${base64(certificate)}, tls.key: ${base64(key)}, ca.crt: ${base64(ca)}}\n`;

const CLIENT = 'spiffe://client.example/a';

describe('TLS at the edge', () => {
  let system: System;
  let upstream: Upstream;
  let site: TestAuthority;
  let clients: TestAuthority;
  let shop: Pair;

  before(async () => {
    [upstream, site, clients] = await Promise.all([
      startUpstream('upstream'),
      testAuthority(),
      testAuthority(),
    ]);
    shop = await site.issue('shop.example.com');
    const partners = await site.issue('partners.example.com');
    const resources = [
      document('Mapping', 'all', `prefix: /, rewrite: "", service: '127.0.0.1:${upstream.port}'`),
      document(
        'Mapping',
        'acme',
        `prefix: /.well-known/acme-challenge/, rewrite: "", service: '127.0.0.1:${upstream.port}'`,
      ),
      document('Mapping', 'broken', `prefix: /broken/, service: 'ftp://x'`),
      secret('shop', shop),
      secret('partners', { ...partners, ca: clients.ca }),
      host(
        'shop',
        'hostname: shop.example.com, tlsSecret: shop, hsts: {max_age: 600, includeSubDomains: true}',
      ),
      host(
        'wild',
        'hostname: "*.example.com", tls: {issuer: gateway, min_tls_version: v1.3}, requestPolicy: {insecure: {action: Reject}}',
      ),
      host(
        'partners',
        'hostname: partners.example.com, tlsSecret: partners, tls: {ca_secret: partners, cert_required: true}',
      ),
      host(
        'old',
        'hostname: old.example.com, tls: {issuer: gateway, max_tls_version: v1.2, cipher_suites: [ECDHE-ECDSA-AES256-GCM-SHA384], alpn_protocols: http/1.1}, requestPolicy: {insecure: {action: Route}}',
      ),
    ];
    system = await startSystem({ resources: { 'tls.yaml': resources.join('') } });
    await until(() => handshake(at('shop.example.com')).catch(() => undefined));
    await until(() => handshake(at('wild.example.com')).catch(() => undefined));
  });

  after(async () => {
    await system?.stop();
    await upstream?.close();
  });

  const at = (sni: string | undefined, more: Partial<TlsAsk> = {}): TlsAsk => ({
    port: system.ports.edgeTls,
    ...(sni === undefined ? {} : { sni }),
    ...more,
  });
  const roots = () => readFileSync(join(system.state, 'authority', 'roots.pem'), 'utf8');
  const rejects = (t: TestContext, ask: TlsAsk) =>
    assert.rejects(askHttps(ask, '/'), (error: NodeJS.ErrnoException) => {
      t.diagnostic(error.code ?? error.message);
      return true;
    });

  test('a Host answers under its own certificate', async () => {
    const { names, serial } = await handshake(at('shop.example.com', { ca: site.ca }));
    assert.equal(names, 'DNS:shop.example.com');
    assert.ok(serial.length > 0);
    const { body, status } = await askHttps(at('shop.example.com', { ca: site.ca }), '/x?y');
    const { headers, url } = JSON.parse(body) as Echo;
    assert.deepEqual([status, url, headers['x-forwarded-proto']], [200, '/x?y', 'https']);
  });

  test('the built-in authority issues what a Host has no certificate for', async () => {
    const { names } = await handshake(at('a.example.com', { ca: roots() }));
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
        // The server's word, not that of a client that cannot speak it either.
        { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' },
      );
    });
  }

  test('versions and cipher suites are those of the Host', async () => {
    const only = (version: 'TLSv1.2' | 'TLSv1.3') => ({ min: version, max: version });
    assert.equal((await handshake(at('old.example.com'))).version, 'TLSv1.2');
    assert.equal((await handshake(at('old.example.com'))).cipher, 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
    assert.equal((await handshake(at('a.example.com'))).version, 'TLSv1.3');
    assert.equal((await handshake(at('shop.example.com', { versions: only('TLSv1.2') }))).version, 'TLSv1.2');
    await assert.rejects(handshake(at('old.example.com', { versions: only('TLSv1.3') })));
    await assert.rejects(handshake(at('a.example.com', { versions: only('TLSv1.2') })));
    await assert.rejects(
      handshake(
        at('old.example.com', { versions: only('TLSv1.2'), ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }),
      ),
    );
  });

  test('a client with a certificate is let in, and the service learns who it is', async () => {
    const certificate = await clients.issue(CLIENT);
    const spoofed = { 'x-forwarded-client-cert': 'URI=spiffe://somebody.else' };
    const { body, status } = await askHttps(at('partners.example.com', { certificate }), '/', spoofed);
    const xfcc = (JSON.parse(body) as Echo).headers['x-forwarded-client-cert'] ?? '';
    assert.equal(status, 200);
    assert.match(xfcc, /URI=spiffe:\/\/client\.example\/a/);
    assert.doesNotMatch(xfcc, /somebody/);
  });

  test('a client without one, or with that of another authority or of yesterday, is not', async t => {
    await rejects(t, at('partners.example.com'));
    await rejects(t, at('partners.example.com', { certificate: await site.issue(CLIENT) }));
    await rejects(t, at('partners.example.com', { certificate: await clients.issue(CLIENT, -30) }));
  });

  test('what a client says of its certificate elsewhere is taken away', async () => {
    const headers = {
      'x-forwarded-client-cert': `URI=${CLIENT}`,
      'x-gateway-tls-host': 'partners.example.com',
    };
    const { body } = await askHttps(at('shop.example.com'), '/', headers);
    const got = (JSON.parse(body) as Echo).headers;
    assert.deepEqual([got['x-forwarded-client-cert'], got['x-gateway-tls-host']], [undefined, undefined]);
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
    assert.deepEqual([misled.status, misled.headers['strict-transport-security']], [421, undefined]);
    const plain = await request(system.edge, '/', { headers: { ...headers, 'x-forwarded-proto': 'https' } });
    assert.equal(plain.status, 301);
  });

  test('a request without TLS is sent to https, at its port and with its query', async () => {
    const { headers, status } = await request(system.edge, '/x/y?a=b&c', {
      headers: { host: 'shop.example.com:8080' },
    });
    assert.equal(status, 301);
    assert.equal(headers.location, `https://shop.example.com:${system.ports.edgeTls}/x/y?a=b&c`);
    assert.equal(headers['strict-transport-security'], undefined);
  });

  test('or refused, or served, as its Host says; an ACME challenge is served', async () => {
    const ask = (name: string, path = '/') => request(system.edge, path, { headers: { host: name } });
    assert.equal((await ask('a.example.com')).status, 403);
    assert.equal((await ask('old.example.com')).status, 200);
    assert.equal((await ask('elsewhere.example.org')).status, 200);
    for (const name of ['shop.example.com', 'a.example.com'])
      assert.equal((await ask(name, '/.well-known/acme-challenge/token')).status, 200);
    assert.equal((await ask('shop.example.com', '/.well-known/acme-challenge/../../x')).status, 301);
  });

  test('Strict-Transport-Security is said over TLS by the Host that wants it, also in answers of the gateway', async () => {
    const said = async (sni: string, path = '/') =>
      (await askHttps(at(sni), path)).headers['strict-transport-security'];
    assert.equal(await said('shop.example.com'), 'max-age=600; includeSubDomains');
    assert.equal(await said('shop.example.com', '/broken/'), 'max-age=600; includeSubDomains');
    assert.equal(await said('a.example.com'), undefined);
  });

  test('a new certificate is there within a second, and no connection ends', async t => {
    const counters = () => listenerCounters(system);
    const connection = await openHttp2(at('shop.example.com'));
    const before = await counters();
    const next = await site.issue('shop.example.com');
    const { serial: old } = await handshake(at('shop.example.com'));
    const begun = performance.now();
    system.write(
      'tls.yaml',
      readFileSync(join(system.resources, 'tls.yaml'), 'utf8').replace(
        secret('shop', shop),
        secret('shop', next),
      ),
    );
    shop = next;
    await until(async () => (await handshake(at('shop.example.com'))).serial !== old || undefined);
    const took = performance.now() - begun;
    t.diagnostic(`${took.toFixed(0)} ms`);
    assert.ok(took < promised(1_000), `${took} ms`);
    assert.deepEqual(await counters(), before);
    assert.equal((await connection.ask('shop.example.com', '/')).status, 200);
    assert.equal(connection.isEnding(), false);
    connection.close();
  });

  test('another Host comes and goes, and no connection of the others ends', async () => {
    const connection = await openHttp2(at('shop.example.com'));
    system.write('more.yaml', host('more', 'hostname: more.example.org, tls: {issuer: gateway}'));
    await until(() => handshake(at('more.example.org', { ca: roots() })).catch(() => undefined));
    system.write('more.yaml', '');
    await until(
      () =>
        handshake(at('more.example.org')).then(
          () => undefined,
          () => true,
        ),
      5_000,
    );
    assert.equal((await connection.ask('shop.example.com', '/')).status, 200);
    assert.equal(connection.isEnding(), false);
    connection.close();
  });

  test('a connection from before certificates were required is asked for one', async () => {
    const loose = host('tight', 'hostname: tight.example.org, tls: {issuer: gateway, ca_secret: partners}');
    system.write('tight.yaml', loose);
    const connection = await until(() => openHttp2(at('tight.example.org')).catch(() => undefined));
    assert.equal((await connection.ask('tight.example.org', '/')).status, 200);
    system.write('tight.yaml', loose.replace('partners}', 'partners, cert_required: true}'));
    const status = async () =>
      (await connection.ask('tight.example.org', '/').catch(() => ({ status: 0 }))).status;
    await until(async () => (await status()) !== 200 || undefined);
    const certificate = await clients.issue(CLIENT);
    await until(async () => {
      const answer = await askHttps(at('tight.example.org', { certificate }), '/').catch(() => undefined);
      return answer?.status === 200 || undefined;
    }, 5_000);
    connection.close();
    system.write('tight.yaml', '');
  });

  test('a key that does not fit is a Problem, and the pair before stays', async () => {
    const good = await site.issue('pair.example.org');
    const broken = { ...good, key: (await site.issue('pair.example.org')).key };
    const pairHost = host('pair', 'hostname: pair.example.org, tlsSecret: pair');
    system.write('pair.yaml', secret('pair', good) + pairHost);
    const { serial } = await until(() => handshake(at('pair.example.org')).catch(() => undefined));
    system.write('pair.yaml', secret('pair', broken) + pairHost);
    const { problems, resources } = await system.statusWhen(({ problems }) =>
      problems.some(({ kind, message }) => kind === 'Secret' && message.includes('does not fit')),
    );
    assert.equal(resources.find(({ id }) => id === 'Secret/default/pair')?.state, 'last good');
    assert.equal(problems.find(({ kind }) => kind === 'Secret')?.file.endsWith('pair.yaml'), true);
    assert.equal((await handshake(at('pair.example.org'))).serial, serial);
    assert.doesNotMatch(JSON.stringify(await system.status()), /PRIVATE KEY|BEGIN/);
    system.write('pair.yaml', '');
  });

  test('a Host that has no certificate answers nobody, and its name gets no other certificate', async () => {
    system.write('bare.yaml', host('bare', 'hostname: bare.example.com, tlsSecret: nowhere'));
    await system.statusWhen(({ problems }) =>
      problems.some(({ message }) => message.includes('default/nowhere')),
    );
    await until(
      () =>
        handshake(at('bare.example.com')).then(
          () => undefined,
          () => true,
        ),
      5_000,
    );
    assert.equal((await request(system.edge, '/', { headers: { host: 'bare.example.com' } })).status, 301);
    system.write('bare.yaml', host('bare', 'hostname: bare.example.com, tlsSecret: 5'));
    await until(
      async () =>
        (await request(system.edge, '/', { headers: { host: 'bare.example.com' } })).status === 301 ||
        undefined,
    );
    system.write('bare.yaml', '');
  });

  test('a Host with an error and no last good version is closed, and not served by a wider one', async () => {
    const shut = host('shut', 'hostname: shut.example.com, requestPolicy: {insecure: {action: Refuse}}');
    await handshake(at('shut.example.com'));
    system.write('shut.yaml', shut);
    const asked = () => request(system.edge, '/', { headers: { host: 'shut.example.com' } });
    await until(async () => (await asked()).status === 500 || undefined);
    await assert.rejects(handshake(at('shut.example.com')));
    system.write('shut.yaml', '');
  });

  test('control plane and discovery service come again, a listener is edited, and TLS answers', async () => {
    const connection = await openHttp2(at('shop.example.com'));
    const killed = await Promise.all([system.kill('controlplane'), system.kill('sds')]);
    await until(async () => {
      const now = await Promise.all([system.pid('controlplane'), system.pid('sds')]);
      return now.every((pid, index) => pid !== undefined && pid !== killed[index]) || undefined;
    });
    await until(() =>
      system.status().then(
        ({ ready, proxies }) => (ready && proxies.some(({ group }) => group === 'edge')) || undefined,
        () => undefined,
      ),
    );
    system.write('again.yaml', host('again', 'hostname: again.example.org, tls: {issuer: gateway}'));
    await until(() => handshake(at('again.example.org', { ca: roots() })).catch(() => undefined));
    await handshake(at('shop.example.com', { ca: site.ca }));
    assert.equal((await connection.ask('shop.example.com', '/')).status, 200);
    assert.equal(connection.isEnding(), false);
    connection.close();
    system.write('again.yaml', '');
  });

  test('keys are in no dump of the configuration, and no key in a log', async () => {
    const admin = `http://127.0.0.1:${system.ports.edgeAdmin}`;
    const { body } = await request(admin, '/config_dump?include_eds');
    assert.match(body, /key-pair\/default\/shop/);
    assert.doesNotMatch(body, /PRIVATE KEY/);
    assert.doesNotMatch(body, new RegExp(base64(shop.key).slice(64, 128)));
  });
});

type Stats = { readonly stats: readonly { readonly name: string; readonly value: number }[] };

async function listenerCounters({ ports }: System): Promise<readonly string[]> {
  const names = [
    'listener_modified',
    'listener_in_place_updated',
    'total_listeners_draining',
    'total_filter_chains_draining',
  ];
  const { stats } = await getJson<Stats>(
    `http://127.0.0.1:${ports.edgeAdmin}`,
    `/stats?format=json&filter=${encodeURIComponent(`^listener_manager\\.(${names.join('|')})$`)}`,
  );
  return stats.map(({ name, value }) => `${name} ${value}`);
}
