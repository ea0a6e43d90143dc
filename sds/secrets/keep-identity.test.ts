import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Authority } from '#certificates/authority/authority.ts';
import { openTlsFolder } from '#certificates/tls-folder.ts';
import type { TlsMaterial } from '#certificates/tls-material.ts';
import { writeTlsFolder } from '#certificates/write-tls-folder.ts';
import { until } from '#envoy/e2e/until.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { testAuthority } from '../testing/test-secrets.ts';
import { identityFolder } from './identity-folder.ts';
import type { IdentityTarget } from './identity-target.ts';
import { keepIdentity } from './keep-identity.ts';

const HOUR = 3_600_000;

async function keep(t: TestContext, authority: Authority, target: IdentityTarget, group = 'edge') {
  const clock = { now: Date.now() };
  const timers = new HandTimers();
  const written: string[] = [];
  const troubles: string[] = [];
  const kept = await keepIdentity({
    group,
    target,
    authority,
    trustDomain: 'gateway.internal',
    leafMs: HOUR,
    clock: { now: () => clock.now, random: () => 0.5, after: timers.after },
    onWritten: place => written.push(place),
    onTrouble: (_place, reason) => troubles.push(reason),
  });
  t.after(() => kept.close());
  const turn = async () => {
    timers.run();
    await until(() => (timers.delays.length > 0 ? true : undefined));
  };
  return { clock, kept, written, troubles, turn };
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'identity-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'edge');
}

test('a folder is written at once, taken by who comes later, and renewed at half of its life', async t => {
  const authority = await testAuthority(t);
  const folder = folderOf(t);
  const first = await keep(t, authority, identityFolder(folder));
  assert.deepEqual(first.written, [folder]);
  const opened = await openTlsFolder(folder, { onProblem: assert.fail, now: Date.now });
  t.after(() => opened.close());
  const { certificate } = opened.current();
  const second = await keep(t, authority, identityFolder(folder));
  assert.deepEqual(second.written, []);
  const { serialNumber, validToDate } = new X509Certificate(certificate);
  const facts = { serial: serialNumber.toLowerCase(), notAfter: validToDate.getTime() };
  assert.deepEqual([first.kept.facts(), second.kept.facts()], [facts, facts]);
  second.clock.now += 0.6 * HOUR;
  await second.turn();
  assert.deepEqual(second.written, [folder]);
  await until(() => (opened.current().certificate === certificate ? undefined : true));
});

const UNUSABLE: readonly (readonly [
  what: string,
  material: (authority: Authority, other: Authority) => Promise<TlsMaterial>,
])[] = [
  ['of another group', async own => ({ ...(await own.identity('other')), ca: own.roots() })],
  [
    'of another authority',
    async (own, other) => ({ ...(await other.identity('edge')), ca: own.roots() }),
  ],
  [
    'without the present roots',
    async (own, other) => ({ ...(await own.identity('edge')), ca: other.roots() }),
  ],
  [
    'with another key',
    async own => ({
      ...(await own.identity('edge')),
      key: (await own.identity('edge')).key,
      ca: own.roots(),
    }),
  ],
];

for (const [what, material] of UNUSABLE) {
  test(`a folder ${what} is written anew`, async t => {
    const [authority, other] = [await testAuthority(t), await testAuthority(t)];
    const folder = folderOf(t);
    writeTlsFolder(folder, await material(authority, other));
    const { written } = await keep(t, authority, identityFolder(folder));
    assert.deepEqual(written, [folder]);
  });
}

test('replicas that keep the same place write once, and the loser takes what the winner wrote', async t => {
  const authority = await testAuthority(t);
  let kept: TlsMaterial | undefined;
  let version = 0;
  const target: IdentityTarget = {
    place: 'shared',
    read: async () => kept && { material: kept, mark: String(version) },
    async write(material, mark) {
      if (mark !== (kept === undefined ? undefined : String(version))) return false;
      kept = material;
      version += 1;
      return true;
    },
  };
  const all = await Promise.all([1, 2, 3].map(() => keep(t, authority, target)));
  assert.deepEqual([version, all.flatMap(({ written }) => written)], [1, ['shared']]);
});

test('a place that cannot be written is told once, and tried again', async t => {
  const authority = await testAuthority(t);
  let fails = true;
  const target: IdentityTarget = {
    place: 'away',
    read: async () => undefined,
    async write() {
      if (fails) throw new Error('no space left');
      return true;
    },
  };
  const { turn, troubles, written } = await keep(t, authority, target);
  await turn();
  assert.deepEqual([troubles, written], [['no space left'], []]);
  fails = false;
  await turn();
  assert.deepEqual(written, ['away']);
});
