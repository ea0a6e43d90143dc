import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { selfSigned } from '#certificates/testing/openssl.ts';
import { until } from '#envoy/e2e/until.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { testAcme, testAuthority } from '../../testing/test-secrets.ts';
import { SecretSlot } from '../secret-slot.ts';
import { slotFindings } from '../slot-findings.ts';

const HOUR_MS = 3_600_000;
const NAMED = { resource: 'TLSContext/default/files', field: 'spec.cert_chain_file' };
const LEFT = 'It is not used, and what was in force before stays';
const NONE = 'Until it is right there is none, and TLS that needs it fails';

/** A slot of two files, whose clock a test moves, and what is found of it. */
async function setUp(t: TestContext, named: object = { named: NAMED }) {
  const authority = await testAuthority(t);
  const folder = mkdtempSync(join(tmpdir(), 'pair-'));
  const files = { certificate: join(folder, 'crt'), key: join(folder, 'key') };
  const timers = new HandTimers();
  let now = Date.now();
  const logged: string[] = [];
  const slot = new SecretSlot(
    {
      ...{ name: 'a', groups: ['edge'], content: { kind: 'key pair files', ...files } },
      ...named,
    },
    {
      authority,
      acme: testAcme(),
      certificateFolders: [tmpdir()],
      clock: { now: () => now, random: Math.random, after: timers.after },
      versionKey: Buffer.alloc(32, 7),
      onChange: () => {},
      onRejected: () => void logged.push('rejected'),
      onOver: () => void logged.push('over'),
      connectedSince: () => undefined,
      onFindings: () => {},
    },
  );
  t.after(() => {
    slot.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const found = () => slotFindings([slot]);
  const texts = () => found().map(({ severity, message }) => `${severity}: ${message}`);
  return {
    authority,
    files,
    slot,
    found,
    texts,
    logged,
    finds: (pattern: RegExp) =>
      until(() => texts().find(text => pattern.test(text)), 30_000, `${pattern}`),
    pass: (ms: number) => {
      now += ms;
      timers.run();
    },
  };
}

test('files that are not there are told of by who names them, as out of service', async t => {
  const { files, finds, found } = await setUp(t);
  await finds(/is missing/);
  const message = `${files.certificate} is missing, and ${files.key} is missing. ${NONE}`;
  assert.deepEqual(found(), [{ ...NAMED, severity: 'error', message, outOfService: true }]);
});

test('a pair that does not fit is told of while the one before is in force, until it does', async t => {
  const { authority, files, slot, finds, found, texts } = await setUp(t);
  const [first, second] = [await authority.server(['a.test']), await authority.server(['a.test'])];
  writeWhole(files.certificate, first.certificate);
  writeWhole(files.key, first.key);
  await until(() => slot.resource);
  assert.deepEqual(texts(), []);
  writeWhole(files.certificate, second.certificate);
  await finds(/does not fit/);
  const message = `the private key does not fit the certificate. ${LEFT}`;
  assert.deepEqual(found(), [{ ...NAMED, severity: 'error', message, outOfService: false }]);
  writeWhole(files.key, second.key);
  await until(() => (texts().length === 0 ? true : undefined));
});

test('a certificate that nobody renews is told of before it ends, and then as what it is', async t => {
  const { authority, files, slot, finds, found, logged, pass } = await setUp(t);
  const pair = await authority.server(['a.test']);
  writeWhole(files.certificate, pair.certificate);
  writeWhole(files.key, pair.key);
  await until(() => slot.resource);
  assert.deepEqual(found(), []);
  logged.length = 0;
  pass(0.95 * HOUR_MS);
  assert.match(
    await finds(/ends at/),
    /^warning: the certificate ends at .*Z: it should have been renewed by now$/,
  );
  pass(0.1 * HOUR_MS);
  assert.match(
    await finds(/expired/),
    /^error: the certificate expired at .*Z\. It stays in force until another comes$/,
  );
  assert.equal(found()[0]?.outOfService, false);
  pass(HOUR_MS);
  assert.deepEqual(logged, ['over'], 'once');
});

for (const [kind, warned] of [
  ['Host', ['warning: its extendedKeyUsage lacks serverAuth, so clients will refuse it']],
  ['TLSContext', []],
] as const) {
  test(`a certificate for clients alone that a ${kind} names ${warned.length > 0 ? 'is told of' : 'is right'}`, async t => {
    const forClients = [
      '-addext',
      'extendedKeyUsage=clientAuth',
      '-addext',
      'basicConstraints=CA:FALSE',
    ];
    const pair = selfSigned(t, '-newkey', 'rsa:2048', ...forClients);
    const named = { ...NAMED, resource: `${kind}/default/files` };
    const { files, slot, texts } = await setUp(t, { named });
    writeWhole(files.certificate, pair.certificate);
    writeWhole(files.key, pair.key);
    await until(() => slot.resource);
    assert.deepEqual(texts(), warned);
  });
}

test('what the control plane sees by itself is not told of by others', async t => {
  const { slot, found } = await setUp(t, {});
  await until(() => slot.problem);
  assert.deepEqual(found(), []);
});
