import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { issueServer } from '#certificates/authority/leaf.ts';
import { issueRoot } from '#certificates/authority/root.ts';
import { readRedis, redisOf } from './read-redis.ts';

const DAY = { now: Date.now(), lifetimeMs: 86_400_000 };
const ROOT = await issueRoot(DAY);
const PAIR = await issueServer(ROOT, ['client.test'], DAY);

const files: Readonly<Record<string, string>> = {
  '/run/password': 'from-file\n',
  '/run/empty': '\n',
  '/run/ca.pem': ROOT.certificate,
  '/run/ca-with-list.pem': `${ROOT.certificate}-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n`,
  '/run/cert.pem': PAIR.certificate,
  '/run/key.pem': PAIR.key,
  '/run/other-key.pem': ROOT.key,
};

function readFile(path: string): string {
  const content = files[path];
  if (content === undefined) throw new Error(`ENOENT ${path}`);
  return content;
}

const single = {
  topology: { kind: 'single' },
  addresses: [{ host: 'a', port: 6379 }],
  database: 0,
};

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
      { ...single, tls: { ca: ROOT.certificate, cert: PAIR.certificate, key: PAIR.key } },
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
    [
      { REDIS_URL: '', REDIS_CA_FILE: '/run/ca.pem' },
      /^REDIS_CA_FILE is set, but REDIS_URL is not/,
    ],
    [{ REDIS_URL: 'redis://ada@a' }, /^REDIS_URL: a user without password/],
    [
      { REDIS_URL: 'redis://a', REDIS_PASSWORD_FILE: '/nowhere' },
      /^REDIS_PASSWORD_FILE: cannot read the file "\/nowhere"/,
    ],
    [{ REDIS_URL: 'redis://a', REDIS_CA_FILE: '/run/ca.pem' }, /want rediss in REDIS_URL/],
    [{ REDIS_URL: 'rediss://a', REDIS_CERT_FILE: '/run/cert.pem' }, /belong together/],
    [
      { REDIS_URL: 'redis://a', REDIS_PASSWORD: 'secret', REDIS_PASSWORD_FILE: '/run/password' },
      /^REDIS_PASSWORD and REDIS_PASSWORD_FILE are both set: keep one$/,
    ],
    [
      {
        REDIS_URL: 'redis-sentinel://a/m',
        REDIS_SENTINEL_PASSWORD: 'secret',
        REDIS_SENTINEL_PASSWORD_FILE: '/run/password',
      },
      /^REDIS_SENTINEL_PASSWORD and REDIS_SENTINEL_PASSWORD_FILE are both set: keep one$/,
    ],
    [
      { REDIS_URL: 'redis://a', REDIS_PASSWORD_FILE: '/run/empty' },
      /^REDIS_PASSWORD_FILE: the file "\/run\/empty" is empty/,
    ],
    [
      { REDIS_URL: 'redis-cluster://a', REDIS_SENTINEL_PASSWORD: 'secret' },
      /^REDIS_SENTINEL_PASSWORD .* want redis-sentinel in REDIS_URL/,
    ],
    [
      { REDIS_URL: 'rediss://a', REDIS_CA_FILE: '/run/password' },
      /^REDIS_CA_FILE: cannot use the file "\/run\/password": it holds no certificate in PEM .* Want the authorities/,
    ],
    [
      { REDIS_URL: 'rediss://a', REDIS_CA_FILE: '/run/ca-with-list.pem' },
      /^REDIS_CA_FILE: cannot use the file "\/run\/ca-with-list.pem": revocation lists are not served/,
    ],
    [
      { REDIS_URL: 'rediss://a', REDIS_CERT_FILE: '/run/key.pem', REDIS_KEY_FILE: '/run/key.pem' },
      /^REDIS_CERT_FILE: cannot use the file "\/run\/key.pem": it holds no certificate in PEM/,
    ],
    [
      {
        REDIS_URL: 'rediss://a',
        REDIS_CERT_FILE: '/run/cert.pem',
        REDIS_KEY_FILE: '/run/cert.pem',
      },
      /^REDIS_KEY_FILE: cannot use the file "\/run\/cert.pem": it holds no private key in PEM/,
    ],
    [
      {
        REDIS_URL: 'rediss://a',
        REDIS_CERT_FILE: '/run/cert.pem',
        REDIS_KEY_FILE: '/run/other-key.pem',
      },
      /^REDIS_KEY_FILE: the key in "\/run\/other-key.pem" does not fit the first certificate in "\/run\/cert.pem"/,
    ],
  ] as const)
    test(`is refused: ${error.source}`, () => {
      const read = readRedis(env, readFile);
      assert.ok(read !== undefined && 'error' in read);
      assert.match(read.error, error);
      assert.doesNotMatch(read.error, /secret/);
      assert.throws(() => redisOf(env, readFile), { message: read.error });
    });
});

test('files are read again, and count as they were last read while they cannot be used', () => {
  let content = 'one\n';
  const env = { REDIS_URL: 'redis://a', REDIS_PASSWORD_FILE: '/run/password' };
  const redis = redisOf(env, () => content);
  const password = () => redis?.renewed?.().password;
  assert.equal(password(), 'one');
  content = 'two\n';
  assert.equal(password(), 'two');
  content = '';
  assert.equal(password(), 'two');
});
