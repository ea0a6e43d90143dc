import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readRedis, redisOf } from './read-redis.ts';

const files: Readonly<Record<string, string>> = {
  '/run/password': 'from-file\n',
  '/run/ca.pem': 'CA',
  '/run/cert.pem': 'CERT',
  '/run/key.pem': 'KEY',
};

function readFile(path: string): string {
  const content = files[path];
  if (content === undefined) throw new Error(`ENOENT ${path}`);
  return content;
}

const single = { topology: { kind: 'single' }, addresses: [{ host: 'a', port: 6379 }], database: 0 };

describe('the environment', () => {
  test('without REDIS_URL has no Redis', () => {
    assert.equal(readRedis({}, readFile), undefined);
    assert.equal(
      readRedis({ REDIS_URL: '', REDIS_PASSWORD_FILE: '', REDIS_PORT: '6379' }, readFile),
      undefined,
    );
  });

  test('gives user and password apart from the address, without the last line feed of the file', () =>
    assert.deepEqual(
      readRedis(
        { REDIS_URL: 'redis://x:y@a', REDIS_USERNAME: 'ada', REDIS_PASSWORD_FILE: '/run/password' },
        readFile,
      ),
      { ...single, username: 'ada', password: 'from-file' },
    ));

  test('gives the password as it is', () =>
    assert.deepEqual(readRedis({ REDIS_URL: 'redis://a', REDIS_PASSWORD: 'p%41 ' }, readFile), {
      ...single,
      password: 'p%41 ',
    }));

  test('gives authorities and a client certificate for TLS', () =>
    assert.deepEqual(
      readRedis(
        {
          REDIS_URL: 'rediss://a',
          REDIS_CA_FILE: '/run/ca.pem',
          REDIS_CERT_FILE: '/run/cert.pem',
          REDIS_KEY_FILE: '/run/key.pem',
        },
        readFile,
      ),
      { ...single, tls: { ca: 'CA', cert: 'CERT', key: 'KEY' } },
    ));

  test('gives the sentinels their own password', () =>
    assert.deepEqual(
      readRedis({ REDIS_URL: 'redis-sentinel://a/m', REDIS_SENTINEL_PASSWORD: 's' }, readFile),
      {
        topology: { kind: 'sentinel', masterName: 'm', password: 's' },
        addresses: [{ host: 'a', port: 26379 }],
        database: 0,
      },
    ));

  for (const [env, error] of [
    [{ REDIS_URL: 'redis://u:secret@a:b' }, /^REDIS_URL: a host or port is wrong/],
    [{ REDIS_PASSWORD: 'secret' }, /^REDIS_PASSWORD is set, but REDIS_URL is not/],
    [{ REDIS_URL: '', REDIS_CA_FILE: '/run/ca.pem' }, /^REDIS_CA_FILE is set, but REDIS_URL is not/],
    [{ REDIS_URL: 'redis://ada@a' }, /^REDIS_URL: a user without password/],
    [
      { REDIS_URL: 'redis://a', REDIS_PASSWORD_FILE: '/nowhere' },
      /^REDIS_PASSWORD_FILE: cannot read the file "\/nowhere"/,
    ],
    [{ REDIS_URL: 'redis://a', REDIS_CA_FILE: '/run/ca.pem' }, /want rediss in REDIS_URL/],
    [{ REDIS_URL: 'rediss://a', REDIS_CERT_FILE: '/run/cert.pem' }, /belong together/],
  ] as const)
    test(`is refused: ${error.source}`, () => {
      const read = readRedis(env, readFile);
      assert.ok(read !== undefined && 'error' in read);
      assert.match(read.error, error);
      assert.doesNotMatch(read.error, /secret/);
      assert.throws(() => redisOf(env, readFile), { message: read.error });
    });
});
