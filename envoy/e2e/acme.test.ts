import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { portsAt } from '#launcher/ports.ts';
import { askHttps, handshake } from './https-request.ts';
import { noPebble, type Pebble, preparePebble } from './pebble.ts';
import { claimPortOffset } from './port-offset.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream } from './upstream.ts';

const NAME = 'shop.example.com';
/** Between two requests of a client. */
const PAUSE_MS = 50;
const KEPT = ['acme', 'default', `acme-${NAME}.json`];

/** A gateway with a Host whose certificate an authority issues, which is not started yet. */
async function startSite(seconds?: number, http: 'open' | 'closed' = 'open') {
  const port = await claimPortOffset();
  const { edge, edgeTls } = portsAt(port.offset);
  const upstream = await startUpstream('shop');
  const life = seconds === undefined ? {} : { seconds };
  // Nothing listens on port 1.
  const httpPort = http === 'open' ? edge : 1;
  const pebble = await preparePebble({ httpPort, tlsPort: edgeTls, ...life });
  const resources = `apiVersion: gateway.internal/v2
kind: Host
metadata: { name: shop }
spec:
  hostname: ${NAME}
  acmeProvider: { authority: '${pebble.directory}', email: operator@example.com }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: shop }
spec: { prefix: /, rewrite: "", service: '127.0.0.1:${upstream.port}' }
`;
  const environment = { NODE_EXTRA_CA_CERTS: pebble.caFile };
  const system = await startSystem({ resources: { 'a.yaml': resources }, environment, port });
  const at = { port: edgeTls, sni: NAME };
  const stop = async () => {
    await system.stop();
    await pebble.remove();
    await upstream.close();
    port.release();
  };
  return { at, pebble, system, stop, serial: async () => (await handshake(at)).serial };
}

const keptOf = (system: System) =>
  JSON.parse(readFileSync(join(system.state, ...KEPT), 'utf8')) as Record<string, string>;

const messagesOf = async (system: System) =>
  (await system.status()).problems.map(({ message }) => message);

describe('a Host whose certificate an ACME authority issues', { skip: noPebble }, () => {
  let site: Awaited<ReturnType<typeof startSite>>;
  let pebble: Pebble;
  let system: System;
  before(async () => {
    site = await startSite();
    ({ pebble, system } = site);
  });
  after(() => site?.stop());

  test('has no https while the authority is away, and says why', async () => {
    const { problems } = await system.statusWhen(({ problems }) =>
      problems.some(({ message }) => /cannot be asked/.test(message)),
    );
    const [problem] = problems;
    assert.equal(problem?.field, 'spec.acmeProvider');
    assert.match(problem?.message ?? '', /issues no certificate .*ECONNREFUSED.* Next attempt: 20/);
    await assert.rejects(handshake(site.at));
    const { status } = await request(system.edge, '/', { headers: { host: NAME } });
    assert.equal(status, 301);
  });

  test('gets it once the authority is there, and a client that trusts the authority an answer', async () => {
    await pebble.start();
    const ca = await pebble.root();
    await until(() => askHttps({ ...site.at, ca }, '/').catch(() => undefined));
    const { status } = await askHttps({ ...site.at, ca }, '/');
    assert.equal(status, 200);
    await system.statusWhen(({ problems }) => problems.length === 0);
    assert.match(pebble.log(), /validate w\/ HTTP/);
  });

  test('keeps certificate and account for the owner of the state alone, and tells no key', async () => {
    const folder = join(system.state, 'acme', 'default');
    const files = readdirSync(folder);
    assert.equal(files.length, 2);
    for (const file of files) assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600);
    assert.doesNotMatch(system.gateway.said(), /PRIVATE KEY/);
  });

  test('answers other tokens with 404, and asks no service', async () => {
    const path = '/.well-known/acme-challenge/';
    const ask = (token: string) => request(system.edge, path + token, { headers: { host: NAME } });
    assert.equal((await ask('unknown')).status, 404);
    // These are no tokens, so they are redirected as all others are.
    for (const token of ['', 'a.b', 'a/b', 'a'.repeat(129)])
      assert.equal((await ask(token)).status, 301, token);
  });

  test('serves it again after sds was killed, without another order', async () => {
    const serial = await site.serial();
    await system.kill('sds');
    await until(async () => ((await system.pid('sds')) === undefined ? undefined : true));
    assert.equal(await site.serial(), serial);
    assert.equal(pebble.log().match(/Issued certificate/g)?.length, 1);
  });

  /** Waits until another certificate is served, and asks for a page meanwhile. */
  const replaced = async (serial: string) => {
    await until(async () => {
      const { status } = await askHttps(site.at, '/');
      assert.equal(status, 200);
      return (await site.serial()) === serial ? undefined : true;
    });
    await system.statusWhen(({ problems }) => problems.length === 0);
  };

  test('replaces it without a lost request, when its file is removed', async () => {
    const serial = await site.serial();
    rmSync(join(system.state, ...KEPT));
    await replaced(serial);
  });

  test('is revoked and replaced without a lost request, when an operator says so', async () => {
    const serial = await site.serial();
    const renew = (...args: readonly string[]) =>
      system.command('renew', ...args, '--address', `127.0.0.1:${system.ports.http}`);
    const { code, said } = await renew(NAME.toUpperCase(), '--revoke');
    assert.deepEqual(
      [code, /^\S+: done: it is revoked, and another is ordered\n$/.test(said)],
      [0, true],
      said,
    );
    await replaced(serial);
    assert.equal(await pebble.statusOf(serial), 'Revoked');
    assert.equal(await pebble.statusOf(await site.serial()), 'Valid');
    const unknown = await renew('other.example.com');
    assert.deepEqual(
      [unknown.code, unknown.said],
      [
        1,
        `gateway: no Host other.example.com in force has a certificate of an ACME authority. These have: ${NAME}\n`,
      ],
    );
  });

  test('is not revoked while the authority is away, and the operator reads why', async () => {
    await pebble.kill();
    const { code, said } = await system.command(
      'renew',
      NAME,
      '--revoke',
      '--address',
      `127.0.0.1:${system.ports.http}`,
    );
    assert.equal(code, 1);
    assert.match(said, /: failed: localhost:\d+ cannot be asked: .*ECONNREFUSED/);
    assert.equal((await askHttps(site.at, '/')).status, 200);
  });
});

describe('a certificate of an ACME authority', { skip: noPebble }, () => {
  test('is renewed at two thirds of its life without a lost request', async t => {
    const site = await startSite(24);
    t.after(site.stop);
    await site.pebble.start();
    const ca = await site.pebble.root();
    await until(() => askHttps({ ...site.at, ca }, '/').catch(() => undefined));
    const serials = new Set<string>();
    let answered = 0;
    while (serials.size < 3) {
      const { status } = await askHttps({ ...site.at, ca }, '/');
      assert.equal(status, 200);
      answered += 1;
      serials.add(await site.serial());
      await delay(PAUSE_MS);
    }
    t.diagnostic(`${answered} requests, ${serials.size} certificates`);
    assert.deepEqual(await messagesOf(site.system), []);
  });

  test('is ordered by a proof over TLS where the authority does not reach the port of http', async t => {
    const site = await startSite(undefined, 'closed');
    t.after(site.stop);
    await site.pebble.start();
    const ca = await site.pebble.root();
    await until(() => askHttps({ ...site.at, ca }, '/').catch(() => undefined));
    const record = await until(() => JSON.parse(keptOf(site.system)['acme.json'] ?? '').proved);
    assert.equal(record, 'tls-alpn-01');
    // The proof is for authorities, and what is behind it serves nothing.
    const { names } = await handshake({ ...site.at, ca, protocols: ['h2', 'http/1.1'] });
    assert.equal(names, `DNS:${NAME}`);
    const { status } = await askHttps({ ...site.at, protocols: ['acme-tls/1'] }, '/');
    assert.equal(status, 404);
    await site.system.statusWhen(({ problems }) => problems.length === 0);
  });
});
