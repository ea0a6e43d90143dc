import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { writeKept } from './kept-certificate.ts';
import { keptFile } from './kept-file.ts';
import { openAcme } from './open-acme.ts';

const HOST = 'shop.example.com';
const PLACE = { namespace: 'default', name: 'acme-shop.example.com' };
const SETTINGS = {
  hostname: HOST,
  directory: 'https://localhost:1/dir',
  email: 'a@example.com',
  certificate: PLACE,
  account: { namespace: 'default', name: 'acme-account' },
};
const CHALLENGE = { type: 'http-01', token: 't-1', keyAuthorization: 't-1.thumbprint' } as const;

test('an authority that asks twice at once gets the proof of the order of another process twice', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'acme-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const acme = openAcme({
    clock: { now: Date.now, random: () => 0, after: () => () => {} },
    log: pino({ level: 'silent' }),
    open: place => keptFile(folder, place),
  });
  const { promise: hasLooked, resolve } = Promise.withResolvers<void>();
  const end = acme.keep(SETTINGS, {
    onPair: () => {},
    onTrouble: () => {},
    onNotes: () => resolve(),
    onProof: () => {},
    servedSince: () => undefined,
  });
  t.after(end);
  await hasLooked;
  const claim = { by: 'another', until: Date.now() + 60_000, challenge: CHALLENGE };
  await writeKept(keptFile(folder, PLACE), { mark: undefined, texts: {} }, { claim });
  const { keyAuthorization, token } = CHALLENGE;
  const answers = await Promise.all([acme.answer(HOST, token), acme.answer(HOST, token)]);
  assert.deepEqual(answers, [keyAuthorization, keyAuthorization]);
});
