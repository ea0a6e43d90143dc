import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { goBuild, isBuiltFrom } from '../go-install.ts';

const skip = process.env.GATEWAY_SKIP_KUBE_APISERVER ?? false;

function moduleThatPrints(t: TestContext, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-go-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const module = join(folder, 'module');
  mkdirSync(module);
  const write = (source: string) => writeFileSync(join(module, 'main.go'), source);
  writeFileSync(join(module, 'go.mod'), 'module hello\n\ngo 1.21\n');
  write(`package main\n\nfunc main() { print("${text}") }\n`);
  return { module, target: join(folder, 'tools', 'hello'), write };
}

test('a module of ours is built, and known to be outdated when its source changes', { skip }, t => {
  const { module, target, write } = moduleThatPrints(t, 'hello');
  assert.equal(isBuiltFrom(module, target), false);
  assert.equal(
    goBuild(module, '.', target, () => {}),
    '',
  );
  assert.equal(spawnSync(target, { encoding: 'utf8' }).stderr, 'hello');
  assert.equal(isBuiltFrom(module, target), true);
  write('package main\n\nfunc main() { nonsense() }\n');
  assert.equal(isBuiltFrom(module, target), false);
  assert.match(
    goBuild(module, '.', target, () => {}),
    /^go failed: .*nonsense/,
  );
  assert.equal(isBuiltFrom(module, target), false);
});
