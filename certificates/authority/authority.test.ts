import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import tls from 'node:tls';
import { until } from '#envoy/e2e/until.ts';
import { groupOfPeer } from '../peer.ts';
import { openAuthority } from './authority.ts';
import type { AuthorityStore } from './authority-store.ts';
import { fileAuthorityStore } from './file-authority-store.ts';
import type { KeyPair } from './key-pair.ts';

const HOUR = 3_600_000;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'authority');
}

/** An authority whose clock and timers a test moves by hand. */
async function open(t: TestContext, store: AuthorityStore, clock = { now: Date.now() }) {
  const timers: (() => void)[] = [];
  const troubles: string[] = [];
  const authority = await openAuthority({
    store,
    trustDomain: 'a.test',
    leafMs: 24 * HOUR,
    rootMs: 1_000 * HOUR,
    onTrouble: message => troubles.push(message),
    now: () => clock.now,
    after(_ms, run) {
      timers.push(run);
      return () => {};
    },
  });
  t.after(() => authority.close());
  /** The timer that is set now runs, and has set the next. */
  const turn = async () => {
    const due = timers.splice(0);
    for (const run of due) run();
    await until(() => (timers.length > 0 ? true : undefined));
  };
  return { authority, clock, turn, troubles };
}

function issuedBy(pair: KeyPair, rootsPem: string): boolean {
  const leaf = new X509Certificate(pair.certificate);
  const roots = rootsPem.match(/-----BEGIN[^-]*-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return roots.some(root => leaf.verify(new X509Certificate(root).publicKey));
}

test('the roots survive a restart, in files for their owner alone', async t => {
  const folder = folderOf(t);
  const first = await open(t, fileAuthorityStore(folder));
  const second = await open(t, fileAuthorityStore(folder));
  assert.equal(second.authority.roots(), first.authority.roots());
  assert.deepEqual(readdirSync(folder), ['roots.json']);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(folder, 'roots.json')).mode & 0o777, 0o600);
});

test('many that begin together agree on one root', async t => {
  const folder = folderOf(t);
  const opened = await Promise.all(
    Array.from({ length: 8 }, () => open(t, fileAuthorityStore(folder))),
  );
  assert.equal(new Set(opened.map(({ authority }) => authority.roots())).size, 1);
});

test('made while the clock was ahead, they are joined by one that issues when it is right', async t => {
  const now = Date.now();
  const { authority, clock, turn } = await open(t, fileAuthorityStore(folderOf(t)), {
    now: now + HOUR,
  });
  const early = authority.roots();
  clock.now = now;
  await assert.rejects(authority.identity('edge'), /no root to issue certificates with/);
  await turn();
  const joined = authority.roots();
  assert.ok(joined.startsWith(early) && joined.length > early.length);
  assert.ok(issuedBy(await authority.identity('edge'), joined.slice(early.length)));
});

test('damaged roots are never replaced by new ones: it does not start, and says where', async t => {
  const folder = folderOf(t);
  await open(t, fileAuthorityStore(folder));
  writeFileSync(join(folder, 'roots.json'), '{');
  await assert.rejects(
    open(t, fileAuthorityStore(folder)),
    /roots\.json cannot be used: it is not what/,
  );
});

test('a store that has lost the roots gets the same ones again, also where several know them', async t => {
  const folder = folderOf(t);
  const [first, second] = [
    await open(t, fileAuthorityStore(folder)),
    await open(t, fileAuthorityStore(folder)),
  ];
  const before = first.authority.roots();
  rmSync(folder, { recursive: true });
  await Promise.all([first.turn(), second.turn()]);
  const third = await open(t, fileAuthorityStore(folder));
  for (const { authority, troubles } of [first, second, third]) {
    assert.deepEqual([authority.roots(), troubles], [before, []]);
    assert.ok(issuedBy(await authority.identity('edge'), before));
  }
});

test('while the store is away the roots read last go on, which is told once', async t => {
  const folder = folderOf(t);
  const { authority, turn, troubles } = await open(t, fileAuthorityStore(folder));
  const before = authority.roots();
  writeFileSync(join(folder, 'roots.json'), '{');
  await turn();
  await turn();
  assert.deepEqual([authority.roots(), troubles.length], [before, 1]);
  assert.ok(issuedBy(await authority.identity('edge'), before));
});

test('from root to root there is no moment in which a certificate in use has no root that is known', async t => {
  const store = fileAuthorityStore(folderOf(t));
  const { authority, clock, turn } = await open(t, store);
  const inUse: { pair: KeyPair; ends: number }[] = [];
  const known = new Set<string>();
  for (let step = 0; step < 260; step += 1) {
    clock.now += 6 * HOUR;
    await turn();
    const knownBefore = authority.roots();
    const pair = await authority.identity('edge');
    inUse.push({ pair, ends: clock.now + 24 * HOUR });
    assert.ok(issuedBy(pair, knownBefore));
    for (const { pair: used, ends } of inUse.slice(-8)) {
      if (ends > clock.now) assert.ok(issuedBy(used, authority.roots()), `step ${step}`);
    }
    known.add(authority.roots());
  }
  assert.ok(known.size >= 5, 'roots came and went');
});

test('node speaks mutual TLS by what it issues, and tells the group', async t => {
  const { authority } = await open(t, fileAuthorityStore(folderOf(t)));
  const server = await authority.server(['localhost', '*.a.test', '127.0.0.1', '::1']);
  const client = await authority.identity('edge');
  const listening = tls.createServer({
    cert: server.certificate,
    key: server.key,
    ca: authority.roots(),
    requestCert: true,
    rejectUnauthorized: true,
  });
  t.after(() => listening.close());
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as { port: number };
  for (const servername of ['localhost', 'b.a.test']) {
    const peer = new Promise<tls.TLSSocket>(resolve => listening.once('secureConnection', resolve));
    const socket = tls.connect({
      host: '127.0.0.1',
      port,
      servername,
      ca: authority.roots(),
      cert: client.certificate,
      key: client.key,
    });
    t.after(() => socket.destroy());
    await new Promise((resolve, reject) =>
      socket.once('secureConnect', resolve).once('error', reject),
    );
    const { authorized, ...seen } = {
      authorized: (await peer).authorized,
      certificate: (await peer).getPeerX509Certificate(),
    };
    assert.equal(authorized, true);
    assert.equal(groupOfPeer(seen.certificate?.subjectAltName, 'a.test'), 'edge');
  }
});

test('serial numbers are never the same, and always positive', async t => {
  const { authority } = await open(t, fileAuthorityStore(folderOf(t)));
  const pairs = await Promise.all(Array.from({ length: 20 }, () => authority.identity('edge')));
  const serials = pairs.map(({ certificate }) => new X509Certificate(certificate).serialNumber);
  assert.equal(new Set(serials).size, 20);
  for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/);
});
