import './reflect-metadata.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import { X509CertificateGenerator } from '@peculiar/x509';
import { until } from '#envoy/e2e/until.ts';
import { issueIdentity } from './authority/leaf.ts';
import { issueRoot } from './authority/root.ts';
import { openTlsFolder } from './tls-folder.ts';
import type { TlsMaterial } from './tls-material.ts';
import { writeTlsFolder } from './write-tls-folder.ts';

const ROOT = await issueRoot({ now: Date.now(), lifetimeMs: 3_600_000 });

async function issue(): Promise<TlsMaterial> {
  const lifetime = { now: Date.now(), lifetimeMs: 60_000 };
  return {
    ...(await issueIdentity(ROOT, { trustDomain: 'a.test', group: 'edge' }, lifetime)),
    ca: ROOT.certificate,
  };
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(t: TestContext, folder: string) {
  const problems: string[] = [];
  const opened = await openTlsFolder(folder, {
    onProblem: message => problems.push(message),
    now: Date.now,
  });
  t.after(() => opened.close());
  return { opened, problems };
}

/** As an operator may do it: one file after the other. */
function writePlain(folder: string, { certificate, key, ca }: TlsMaterial): void {
  writeFileSync(join(folder, 'tls.crt'), certificate);
  writeFileSync(join(folder, 'tls.key'), key);
  writeFileSync(join(folder, 'ca.crt'), ca);
}

for (const [how, write] of [
  ['swapped by one link', writeTlsFolder],
  ['written one by one', writePlain],
] as const) {
  test(`files that are ${how} are followed`, async t => {
    const folder = folderOf(t);
    const first = await issue();
    write(folder, first);
    const { opened, problems } = await open(t, folder);
    assert.deepEqual(opened.current(), first);
    const heard: TlsMaterial[] = [];
    opened.onChange(material => heard.push(material));
    const next = await issue();
    write(folder, next);
    await until(() => (heard.length > 0 ? true : undefined));
    assert.deepEqual([opened.current(), heard, problems], [next, [next], []]);
  });
}

test('a broken change is told once, without the key, and the last good one stays', async t => {
  const folder = folderOf(t);
  const first = await issue();
  writeTlsFolder(folder, first);
  const { opened, problems } = await open(t, folder);
  const { key } = await issue();
  writeTlsFolder(folder, { ...first, key });
  await until(() => (problems.length > 0 ? true : undefined));
  writeFileSync(join(folder, 'other'), 'another event');
  assert.match(
    problems.join(),
    /^[^,]*tls\.crt and tls\.key: the private key does not fit the certificate$/,
  );
  assert.deepEqual(opened.current(), first);
  const good = await issue();
  writeTlsFolder(folder, good);
  await until(() => (opened.current().key === good.key ? true : undefined));
});

/** An identity with an authority of 1,024 bits in its chain. */
async function issueWeak(): Promise<TlsMaterial> {
  const signingAlgorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const publicExponent = Uint8Array.of(1, 0, 1);
  const keys = await crypto.subtle.generateKey(
    { ...signingAlgorithm, modulusLength: 1024, publicExponent },
    true,
    ['sign', 'verify'],
  );
  const notAfter = new Date(Date.now() + 3_600_000);
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...{ name: 'CN=old', notAfter, signingAlgorithm, keys },
  });
  const identity = await issue();
  const certificate = `${identity.certificate}${authority.toString('pem')}\n`;
  return { ...identity, certificate };
}

test('a change that a server could not use is told, and the last good one stays', async t => {
  const folder = folderOf(t);
  const first = await issue();
  writeTlsFolder(folder, first);
  const { opened, problems } = await open(t, folder);
  const server = createServer({ cert: first.certificate, key: first.key });
  opened.onChange(({ certificate, key }) => server.setSecureContext({ cert: certificate, key }));
  writeTlsFolder(folder, await issueWeak());
  await until(() => (problems.length > 0 ? true : undefined));
  assert.deepEqual(problems, [`${folder}: OpenSSL does not accept it: ca key too small`]);
  assert.deepEqual(opened.current(), first);
});

test('what a server could not use is no beginning either', async t => {
  const folder = folderOf(t);
  writeTlsFolder(folder, await issueWeak());
  await assert.rejects(open(t, folder), /OpenSSL does not accept it: ca key too small$/);
});

test('revocation lists are not ignored in silence', async t => {
  const folder = folderOf(t);
  const first = await issue();
  writeTlsFolder(folder, first);
  const { opened, problems } = await open(t, folder);
  const crl = '-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n';
  writeTlsFolder(folder, { ...first, ca: first.ca + crl });
  await until(() => (problems.length > 0 ? true : undefined));
  assert.deepEqual(problems, [`${folder}/ca.crt: revocation lists are not served here`]);
  assert.deepEqual(opened.current(), first);
});

for (const name of ['tls.crt', 'tls.key', 'ca.crt']) {
  test(`without ${name} it does not open, and says which file is missing`, async t => {
    const folder = folderOf(t);
    writePlain(folder, await issue());
    rmSync(join(folder, name));
    await assert.rejects(open(t, folder), new RegExp(`^Error: ${folder}/${name} is missing$`));
  });
}

test('a pipe in the place of a file is not waited for', async t => {
  const folder = folderOf(t);
  writePlain(folder, await issue());
  rmSync(join(folder, 'tls.key'));
  execFileSync('mkfifo', [join(folder, 'tls.key')]);
  await assert.rejects(open(t, folder), new RegExp(`^Error: ${folder}/tls\\.key is no file$`));
});

test('the first files may come later, when that is allowed, and it is said what is waited for', async t => {
  const folder = join(folderOf(t), 'edge');
  const waits: string[] = [];
  const opening = openTlsFolder(folder, {
    onProblem: assert.fail,
    onWait: message => waits.push(message),
    now: Date.now,
    waitMs: 10_000,
  });
  const first = await issue();
  writeTlsFolder(folder, first);
  const opened = await opening;
  assert.deepEqual(opened.current(), first);
  assert.deepEqual(waits, [`${folder}/tls.crt is missing`]);
  opened.close();
});

test('a reader never sees a certificate with the key of another while they are swapped', async t => {
  const folder = folderOf(t);
  const pairs = [await issue(), await issue()] as const;
  writeTlsFolder(folder, pairs[0]);
  const { opened, problems } = await open(t, folder);
  for (let turn = 0; turn < 100; turn += 1) {
    writeTlsFolder(folder, pairs[turn % 2 === 0 ? 1 : 0]);
    if (turn % 10 === 0) await new Promise(resolve => setImmediate(resolve));
  }
  await until(() => (opened.current().key === pairs[0].key ? true : undefined));
  assert.deepEqual(problems, []);
});

test('what is written is for its owner alone, and leaves nothing of before', async t => {
  const folder = join(folderOf(t), 'edge');
  for (let turn = 0; turn < 3; turn += 1) writeTlsFolder(folder, await issue());
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const name of ['tls.crt', 'tls.key', 'ca.crt'])
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  assert.equal(readdirSync(folder).filter(name => name.startsWith('..data-')).length, 1);
  assert.match(readFileSync(join(folder, 'tls.key'), 'utf8'), /PRIVATE KEY/);
});
