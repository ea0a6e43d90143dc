import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { Rejected, Resource } from '#resources/resource.ts';
import { editLog } from './edit-log.ts';

const written = (hashes: Readonly<Record<string, string>>, rejected: readonly string[] = []) => ({
  resources: new Map(Object.entries(hashes).map(([id, hash]) => [id, { id, hash } as Resource])),
  rejected: new Map(rejected.map(id => [id, { id } as Rejected])),
  unreadable: new Set<string>(),
  anonymous: new Set<string>(),
});

function setUp() {
  const lines: unknown[] = [];
  const log = pino(
    { base: null, timestamp: false },
    {
      write: (line: string) => {
        const { level, ...rest } = JSON.parse(line);
        lines.push(rest);
      },
    },
  );
  return { lines, edited: editLog(log) };
}

test('an edit is one line with what came, changed and went; what is read again is none', () => {
  const { lines, edited } = setUp();
  edited(written({ a: '1', b: '1' }));
  edited(written({ a: '1', b: '1' }));
  edited(written({ b: '2', c: '1' }));
  assert.deepEqual(lines, [
    { resources: 2, msg: 'resources read' },
    { added: ['c'], changed: ['b'], removed: ['a'], resources: 2, msg: 'resources edited' },
  ]);
});

test('what is rejected has not gone, and is an edit when it comes back otherwise', () => {
  const { lines, edited } = setUp();
  edited(written({ a: '1' }));
  edited(written({}, ['a', 'never-good']));
  edited(written({ a: '1' }));
  edited(written({}, ['a']));
  edited(written({ a: '2' }));
  assert.deepEqual(lines.slice(1), [{ changed: ['a'], resources: 1, msg: 'resources edited' }]);
});

test('of many only the first are named', () => {
  const { lines, edited } = setUp();
  edited(written({}));
  edited(written(Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`m${at}`, '1']))));
  const { added } = lines[1] as { added: readonly string[] };
  assert.deepEqual(added.slice(9), ['m9', '… and 2 more']);
});
