import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeStateFolder } from './state-folder.ts';
import { watchState } from './watch-state.ts';

/** Watches a state folder, and checks it when the test says so. */
function watched(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'watch-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, 'state');
  const state = makeStateFolder(path);
  const said: string[] = [];
  const restored: number[] = [];
  const callbacks = new Set<() => void>();
  const restore = () => {
    writeFileSync(state.lock, '');
    restored.push(1);
  };
  const every = (_ms: number, callback: () => void) => {
    callbacks.add(callback);
    return () => void callbacks.delete(callback);
  };
  const end = watchState({ state, restore, say: line => said.push(line), every });
  const look = async () => {
    for (const callback of callbacks) callback();
    await new Promise(resolve => setImmediate(resolve));
  };
  writeFileSync(state.lock, '');
  return { path, state, said, restored, look, end, callbacks };
}

test('a state folder that is there is left alone', async t => {
  const { look, said, restored, end, callbacks } = watched(t);
  await look();
  assert.deepEqual([said, restored], [[], []]);
  end();
  assert.equal(callbacks.size, 0);
});

for (const part of ['path', 'lock', 'logs', 'bootstrap', 'resources', 'sockets'] as const)
  test(`a state folder of which ${part} is deleted is created again, which is reported once`, async t => {
    const { state, look, said, restored } = watched(t);
    rmSync(state[part], { recursive: true });
    await look();
    await look();
    assert.equal(restored.length, 1);
    assert.match(
      said.join(),
      /^the state folder \/.*\/state was deleted and is created again\. Users/,
    );
    for (const folder of [state.logs, state.bootstrap, state.resources])
      assert.ok(existsSync(folder));
  });

test('a state folder that cannot be created again is tried again, and told of once', async t => {
  const { path, look, said, restored } = watched(t);
  rmSync(path, { recursive: true });
  writeFileSync(path, 'in its place');
  await look();
  await look();
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /cannot be created again: Cannot use the state folder/);
  rmSync(path);
  await look();
  assert.deepEqual([restored.length, said.length], [1, 2]);
});
