import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Rejected, Resource } from '#resources/resource.ts';
import { candidates } from './candidates.ts';

const at = (id: string, hash: string, file = 'a.yaml') =>
  ({ id, hash, source: { file, line: 1 } }) as Resource;
const byId = <T extends { id: string }>(...items: T[]) =>
  new Map(items.map(item => [item.id, item]));
const rejected = (id: string) => ({ id, source: { file: 'a.yaml', line: 1 } }) as Rejected;
const versions = (resources: ReadonlyMap<string, Resource>) =>
  Object.fromEntries([...resources].map(([id, { hash }]) => [id, hash]));

describe('candidates', () => {
  test('are what is written, when all of it is good', () => {
    const written = {
      resources: byId(at('a', '2')),
      rejected: byId<Rejected>(),
      unreadable: new Set<string>(),
      anonymous: new Set<string>(),
    };
    const found = candidates(written, byId(at('a', '1'), at('gone', '1')));
    assert.deepEqual(versions(found.resources), { a: '2' });
    assert.deepEqual(found.closed, []);
  });

  test('a rejected resource keeps its last good version, one without is closed', () => {
    const written = {
      resources: byId<Resource>(),
      rejected: byId(rejected('a'), rejected('b')),
      unreadable: new Set<string>(),
      anonymous: new Set<string>(),
    };
    const found = candidates(written, byId(at('a', '1')));
    assert.deepEqual(versions(found.resources), { a: '1' });
    assert.deepEqual([...found.kept], ['a']);
    assert.deepEqual(
      found.closed.map(({ id }) => id),
      ['b'],
    );
  });

  test('what a broken file may have held stays in force, what moved to another file is the new one', () => {
    const written = {
      resources: byId(at('moved', '2', 'b.yaml')),
      rejected: byId<Rejected>(),
      unreadable: new Set(['a.yaml']),
      anonymous: new Set<string>(),
    };
    const found = candidates(
      written,
      byId(at('moved', '1'), at('lost', '1'), at('elsewhere', '1', 'c.yaml')),
    );
    assert.deepEqual(versions(found.resources), { moved: '2', lost: '1' });
    assert.deepEqual(found.unknown, []);
  });

  test('a broken file from which nothing is in force is unknown', () => {
    const written = {
      resources: byId(at('b', '1', 'b.yaml')),
      rejected: byId<Rejected>(),
      unreadable: new Set(['a.yaml']),
      anonymous: new Set<string>(),
    };
    assert.deepEqual(candidates(written, new Map()).unknown, ['a.yaml']);
  });

  test('what lost its name stays in force, and is not closed under no name', () => {
    const nameless = { kind: 'Mapping', name: '', id: 'Mapping/default/@a.yaml:1' };
    const written = {
      resources: byId<Resource>(),
      rejected: byId({ ...rejected(nameless.id), ...nameless }),
      unreadable: new Set<string>(),
      anonymous: new Set(['a.yaml']),
    };
    const good = { ...at('a', '1'), kind: 'Mapping' } as Resource;
    const found = candidates(written, byId(good, at('elsewhere', '1', 'c.yaml')));
    assert.deepEqual(versions(found.resources), { a: '1' });
    assert.deepEqual(found.closed, []);
    assert.deepEqual(found.unknown, []);
    assert.deepEqual(candidates(written, new Map()).closed, [...written.rejected.values()]);
  });
});
