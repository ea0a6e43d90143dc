import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openLogFile } from './log-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'log-'));
after(() => rmSync(folder, { recursive: true }));

function log(name: string, maxBytes = 1000) {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  const failures: string[] = [];
  const file = openLogFile(path, maxBytes, error => failures.push(error.message));
  return { ...file, failures, read: (suffix = '') => readFileSync(`${path}${suffix}`, 'utf8') };
}

describe('a log', () => {
  test('begins again, and keeps the one before', () => {
    const before = log('two');
    before.write('before\n');
    before.close();
    const now = log('two');
    now.write('now\n');
    assert.deepEqual([now.read(), now.read('.1')], ['now\n', 'before\n']);
    now.close();
  });

  test('never has more than twice its size', () => {
    const file = log('bounded', 100);
    for (let line = 0; line < 1000; line++) file.write(`line ${line}\n`);
    assert.ok(file.read().length + file.read('.1').length < 250);
    assert.match(file.read(), /line 999\n$/);
    file.close();
  });

  test('that cannot be written is reported once, and goes on when it can', () => {
    const file = log('gone/log', 10);
    file.write('more than ten bytes\n');
    rmSync(join(folder, 'gone'), { recursive: true });
    writeFileSync(join(folder, 'gone'), 'in its place');
    file.write('lost\n');
    file.write('lost\n');
    assert.equal(file.failures.length, 1);
    assert.match(file.failures[0] ?? '', /ENOTDIR/);
    rmSync(join(folder, 'gone'));
    file.write('kept\n');
    assert.equal(file.read(), 'kept\n');
    file.close();
  });

  test('that is deleted, with its folder, begins again', () => {
    const file = log('deleted/log');
    file.write('before\n');
    rmSync(join(folder, 'deleted'), { recursive: true });
    file.write('now\n');
    assert.deepEqual([file.read(), file.failures], ['now\n', []]);
    file.close();
  });
});
