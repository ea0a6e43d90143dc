import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { fileDrainedStore } from './drained-store.ts';

function storeIn(t: { after(run: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'drained-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const logged: string[] = [];
  const log = pino({}, { write: line => void logged.push(line) });
  const path = join(folder, 'drained.json');
  return { path, logged, store: fileDrainedStore(path, log) };
}

test('what is drained is read again, and nothing before anything was written', t => {
  const { logged, store } = storeIn(t);
  assert.deepEqual(store.read(), []);
  store.write([{ address: '::1', port: 9001 }]);
  assert.deepEqual([store.read(), logged], [[{ address: '::1', port: 9001 }], []]);
});

const instanceAt = (port: number) => `[{"address": "::1", "port": ${port}}]`;
const WRONG = [
  ...['', '{', '{}', '[1]', '[null]', '[{"address": "a.test", "port": 1}]'],
  ...[-1, 0, 0.5, 65_536].map(instanceAt),
];
for (const text of WRONG) {
  test(`a file with ${JSON.stringify(text)} drains nothing, and is logged`, t => {
    const { logged, path, store } = storeIn(t);
    writeFileSync(path, text);
    assert.deepEqual(store.read(), []);
    assert.match(logged.join(''), /cannot read which instances are drained/);
  });
}
