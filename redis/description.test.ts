import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRedisAddress } from './description.ts';

const at = (host: string, port: number) => ({ host, port });

describe('an address of Redis', () => {
  for (const [text, expected] of [
    ['redis://127.0.0.1:6380', { addresses: [at('127.0.0.1', 6380)], database: 0 }],
    ['redis://cache', { addresses: [at('cache', 6379)], database: 0 }],
    [' redis://[::1]:7000/3\n', { addresses: [at('::1', 7000)], database: 3 }],
    [
      'redis://:p%40ss%2Fword@cache/0',
      { password: 'p@ss/word', addresses: [at('cache', 6379)], database: 0 },
    ],
    [
      'redis://ada:a:b@c@cache',
      { username: 'ada', password: 'a:b@c', addresses: [at('cache', 6379)], database: 0 },
    ],
    ['rediss://cache:1', { addresses: [at('cache', 1)], database: 0, tls: {} }],
  ] as const) {
    test(text.trim(), () =>
      assert.deepEqual(parseRedisAddress(text), { topology: { kind: 'single' }, ...expected }),
    );
  }

  test('of sentinels names the master, and maybe a database', () =>
    assert.deepEqual(parseRedisAddress('rediss-sentinel://u:p@a,b:2/my%20master/4'), {
      topology: { kind: 'sentinel', masterName: 'my master' },
      username: 'u',
      password: 'p',
      addresses: [at('a', 26379), at('b', 2)],
      database: 4,
      tls: {},
    }));

  test('of a cluster names some of its nodes', () =>
    assert.deepEqual(parseRedisAddress('redis-cluster://a:1,[fe80::1]:2/'), {
      topology: { kind: 'cluster' },
      addresses: [at('a', 1), at('fe80::1', 2)],
      database: 0,
    }));

  for (const [text, error] of [
    ['', /not an address of Redis/],
    ['http://a', /not an address of Redis/],
    ['redis://a?db=1', /not an address of Redis/],
    ['redis://', /host or port is wrong/],
    ['redis://a:0', /host or port is wrong/],
    ['redis://a:65536', /host or port is wrong/],
    ['redis://a:b', /host or port is wrong/],
    ['redis://::1', /host or port is wrong/],
    ['redis://a,b', /more than one host/],
    ['redis://a/x', /database is not a number/],
    ['redis://a/1/2', /database is not a number/],
    ['redis://a/-1', /database is not a number/],
    ['redis-sentinel://a', /no master name/],
    ['redis-cluster://a/1', /database 0 alone/],
    ['redis://u:se%cret@a', /not percent-encoding/],
  ] as const)
    test(`refuses "${text}"`, () => {
      const parsed = parseRedisAddress(text);
      assert.ok('error' in parsed);
      assert.match(parsed.error, error);
    });

  test('is never repeated in an error, since it holds a password', () => {
    for (const text of [
      'redis://u:secret@a:b',
      'redis://u:secret@a/x',
      'ftp://u:secret@a',
      'redis://u:secret%@a',
      'redis-sentinel://u:secret@a',
      'redis-cluster://u:secret@a/secret',
    ]) {
      const parsed = parseRedisAddress(text);
      assert.ok('error' in parsed, text);
      assert.doesNotMatch(parsed.error, /secret/);
    }
  });
});
