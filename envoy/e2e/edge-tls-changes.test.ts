import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { askHttps, handshake, openHttp2 } from './https-request.ts';
import { promised } from './promised.ts';
import { getJson, request } from './request.ts';
import type { System } from './system.ts';
import { base64, CLIENT, host, type Pair, secret, startTlsSite, type TlsSite } from './tls-site.ts';
import { until } from './until.ts';

/** Without a byte a file would keep what it had. */
const NOTHING = '# nothing\n';

describe('TLS at the edge, when something changes:', () => {
  let site: TlsSite;
  let shop: Pair;
  before(async () => {
    site = await startTlsSite();
    shop = site.shop;
  });
  after(() => site?.stop());

  const at: TlsSite['at'] = (...ask) => site.at(...ask);

  const untilRefused = (name: string) =>
    until(() =>
      handshake(at(name)).then(
        () => undefined,
        () => true,
      ),
    );

  /** Returns the status of an answer to plain HTTP. */
  const insecurely = async (name: string) =>
    (await request(site.system.edge, '/', { headers: { host: name } })).status;

  /** Kills these parts, and waits until they and the edge run again. */
  const restarted = async (...parts: readonly string[]) => {
    const killed = await Promise.all(parts.map(part => site.system.kill(part)));
    await until(async () => {
      const now = await Promise.all(parts.map(part => site.system.pid(part)));
      return now.every((pid, index) => pid !== undefined && pid !== killed[index]) || undefined;
    });
    await until(() =>
      site.system.status().then(
        ({ ready, proxies }) =>
          (ready && proxies.some(({ group }) => group === 'edge')) || undefined,
        () => undefined,
      ),
    );
  };

  /** Adds a Host, waits until the edge answers for it, and removes it. */
  const untilAnswers = async (name: string) => {
    const hostname = `${name}.example.org`;
    site.system.write(`${name}.yaml`, host(name, `hostname: ${hostname}, tls: {issuer: gateway}`));
    await until(() => handshake(at(hostname, { ca: site.roots() })).catch(() => undefined));
    site.system.write(`${name}.yaml`, NOTHING);
  };

  test('a new certificate is there within a second, and no connection ends', async t => {
    const counters = () => listenerCounters(site.system);
    const connection = await openHttp2(at('shop.example.com'));
    const before = await counters();
    const next = await site.authority.issue('shop.example.com');
    const { serial: old } = await handshake(at('shop.example.com'));
    const begun = performance.now();
    site.system.write(
      'tls.yaml',
      readFileSync(join(site.system.resources, 'tls.yaml'), 'utf8').replace(
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
    site.system.write(
      'more.yaml',
      host('more', 'hostname: more.example.org, tls: {issuer: gateway}'),
    );
    await until(() =>
      handshake(at('more.example.org', { ca: site.roots() })).catch(() => undefined),
    );
    site.system.write('more.yaml', NOTHING);
    await untilRefused('more.example.org');
    assert.equal((await connection.ask('shop.example.com', '/')).status, 200);
    assert.equal(connection.isEnding(), false);
    connection.close();
  });

  test('a connection from before certificates were required is asked for one', async () => {
    const loose = host(
      'tight',
      'hostname: tight.example.org, tls: {issuer: gateway, ca_secret: partners}',
    );
    site.system.write('tight.yaml', loose);
    const connection = await until(() => openHttp2(at('tight.example.org')).catch(() => undefined));
    assert.equal((await connection.ask('tight.example.org', '/')).status, 200);
    site.system.write('tight.yaml', loose.replace('partners}', 'partners, cert_required: true}'));
    const status = async () =>
      (await connection.ask('tight.example.org', '/').catch(() => ({ status: 0 }))).status;
    await until(async () => (await status()) !== 200 || undefined);
    const certificate = await site.clients.issue(CLIENT);
    await until(async () => {
      const answer = await askHttps(at('tight.example.org', { certificate }), '/').catch(
        () => undefined,
      );
      return answer?.status === 200 || undefined;
    });
    connection.close();
    site.system.write('tight.yaml', NOTHING);
  });

  test('connections drain that authorities let in which are trusted no more, and no others', async () => {
    const left = host(
      'left',
      'hostname: left.example.org, tls: {issuer: gateway, ca_secret: left, cert_required: true}',
    );
    const write = (ca: string) =>
      site.system.write('left.yaml', secret('left', { ...shop, ca }) + left);
    write(site.clients.ca);
    const certificate = await site.clients.issue(CLIENT);
    const enters = () =>
      askHttps(at('left.example.org', { certificate }), '/').then(
        ({ status }) => status === 200,
        () => false,
      );
    await until(async () => (await enters()) || undefined);
    const draining = async () => {
      const counters = await listenerCounters(site.system);
      const found = counters.find(counter => counter.includes('total_filter_chains_draining '));
      return Number(found?.split(' ')[1]);
    };
    const [before, others] = [await draining(), await openHttp2(at('shop.example.com'))];
    write(site.authority.ca);
    await until(async () => !(await enters()) || undefined);
    await until(async () => (await draining()) > before || undefined);
    assert.equal((await others.ask('shop.example.com', '/')).status, 200);
    assert.equal(others.isEnding(), false);
    others.close();
    site.system.write('left.yaml', NOTHING);
  });

  test('a key that does not fit is a Problem, and the pair before stays', async () => {
    const good = await site.authority.issue('pair.example.org');
    const broken = { ...good, key: (await site.authority.issue('pair.example.org')).key };
    const pairHost = host('pair', 'hostname: pair.example.org, tlsSecret: pair');
    site.system.write('pair.yaml', secret('pair', good) + pairHost);
    const { serial } = await until(() => handshake(at('pair.example.org')).catch(() => undefined));
    site.system.write('pair.yaml', secret('pair', broken) + pairHost);
    const { problems, resources } = await site.system.statusWhen(({ problems }) =>
      problems.some(({ kind, message }) => kind === 'Secret' && message.includes('does not fit')),
    );
    assert.equal(resources.find(({ id }) => id === 'Secret/default/pair')?.state, 'last good');
    assert.equal(problems.find(({ kind }) => kind === 'Secret')?.file.endsWith('pair.yaml'), true);
    assert.equal((await handshake(at('pair.example.org'))).serial, serial);
    assert.doesNotMatch(JSON.stringify(await site.system.status()), /PRIVATE KEY|BEGIN/);
    await restarted('controlplane');
    await untilAnswers('pair-later');
    assert.equal((await handshake(at('pair.example.org'))).serial, serial);
    site.system.write('pair.yaml', NOTHING);
  });

  test('a Host that has no certificate answers nobody, and its name gets no other certificate', async () => {
    site.system.write('bare.yaml', host('bare', 'hostname: bare.example.com, tlsSecret: nowhere'));
    await site.system.statusWhen(({ problems }) =>
      problems.some(({ message }) => message.includes('default/nowhere')),
    );
    await untilRefused('bare.example.com');
    const isRedirected = async () => (await insecurely('bare.example.com')) === 301 || undefined;
    await until(isRedirected);
    site.system.write('bare.yaml', host('bare', 'hostname: bare.example.com, tlsSecret: 5'));
    await until(isRedirected);
    site.system.write('bare.yaml', NOTHING);
  });

  test('a Host with an error and no last good version is closed, and not served by a wider one', async () => {
    const shut = host(
      'shut',
      'hostname: shut.example.com, requestPolicy: {insecure: {action: Refuse}}',
    );
    await handshake(at('shut.example.com'));
    site.system.write('shut.yaml', shut);
    await until(async () => (await insecurely('shut.example.com')) === 500 || undefined);
    await untilRefused('shut.example.com');
    site.system.write('shut.yaml', NOTHING);
  });

  test('control plane and discovery service come again, a listener is edited, and TLS answers', async () => {
    const connection = await openHttp2(at('shop.example.com'));
    await restarted('controlplane', 'sds');
    await untilAnswers('again');
    await handshake(at('shop.example.com', { ca: site.authority.ca }));
    assert.equal((await connection.ask('shop.example.com', '/')).status, 200);
    assert.equal(connection.isEnding(), false);
    connection.close();
  });

  test('keys are in no dump of the configuration, and no key in a log', async () => {
    const admin = `http://127.0.0.1:${site.system.ports.edgeAdmin}`;
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
