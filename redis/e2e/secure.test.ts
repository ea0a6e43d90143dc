import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { redisOf } from '../read-redis.ts';
import { script } from '../script.ts';
import { type Certificates, makeCertificates } from '../testing/certificates.ts';
import { describeRedis, openedRedis, openRedis } from '../testing/open-redis.ts';
import { type RedisServer, startRedis, whyNoRedis } from '../testing/redis-server.ts';
import { until } from '../testing/until.ts';

const skip = whyNoRedis() ?? findTool('openssl').skip;
const PASSWORD = 's3cret/@:%ü';
type Test = Parameters<typeof openRedis>[0];

/** What a machine that is busy may come to before it hears the refusal. */
const UNTOLD = 'no answer to the connection';
const RIGHTS = ['~counter:*', '+@all', '-get'];

describe('Redis with users and TLS', { skip, concurrency: true }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-redis-tls-'));
  let plain: RedisServer;
  let tls: RedisServer;
  let certificates: Certificates;
  let others: Certificates;

  before(async () => {
    certificates = makeCertificates(folder);
    others = makeCertificates(folder, 'others');
    const users = ['--user', 'default', 'off', '--user', 'ada', 'on', `>${PASSWORD}`, ...RIGHTS];
    [plain, tls] = await Promise.all([
      startRedis({ args: users }),
      startRedis(async (_, port) => ({ args: withTls(port) })),
    ]);
  });
  const withTls = (port: number) => {
    const { caFile, certFile, keyFile } = certificates;
    return [
      ...['--port', '0', '--tls-port', `${port}`, '--tls-auth-clients', 'yes'],
      ...['--tls-ca-cert-file', caFile, '--tls-cert-file', certFile, '--tls-key-file', keyFile],
    ];
  };
  after(async () => {
    await Promise.all([plain.remove(), tls.remove()]);
    rmSync(folder, { recursive: true });
  });

  const url = (user: string, password: string) =>
    `redis://${user}:${encodeURIComponent(password)}@${plain.address}`;

  /** The reason why there is no connection, other than `untold`, and all that was said about it. */
  async function refusal(t: Test, to: Parameters<typeof openRedis>[1], untold = UNTOLD) {
    const { events, redis } = openRedis(t, to);
    await until('it is refused', () => ![undefined, untold].includes(redis.status().reason));
    const error = await redis.send('a', ['PING']).catch((thrown: unknown) => thrown);
    return { reason: redis.status().reason, said: `${JSON.stringify(events)} ${String(error)}` };
  }

  test('knows a user by the password', async t => {
    const redis = await openedRedis(t, url('ada', PASSWORD));
    assert.equal(await redis.send('counter:1', ['INCR', 'counter:1']), 1);
  });

  for (const [what, user, password] of [
    ['a wrong password', 'ada', 'wrong-pass'],
    ['a user that it does not know', 'eve', PASSWORD],
    ['the password of nobody', '', 'wrong-pass'],
  ] as const)
    test(`refuses ${what}, and the password is in no word about it`, async t => {
      const { reason, said } = await refusal(t, url(user, password));
      assert.equal(reason, 'it refuses the user or the password');
      assert.doesNotMatch(said, /s3cret|wrong-pass/);
    });

  test('whose password is renewed in its file is connected with the new one', async t => {
    const renewing = await startRedis({ args: ['--requirepass', 'old'] });
    t.after(() => renewing.remove());
    const file = join(folder, 'password');
    writeFileSync(file, 'old\n');
    const env = { REDIS_URL: `redis://${renewing.address}`, REDIS_PASSWORD_FILE: file };
    const description = redisOf(env, path => readFileSync(path, 'utf8'));
    assert.ok(description !== undefined);
    const redis = await openedRedis(t, description);
    writeFileSync(file, 'new\n');
    await redis.send('', ['CONFIG', 'SET', 'requirepass', 'new']);
    const id = await redis.send('', ['CLIENT', 'ID']);
    await redis.send('', ['CLIENT', 'KILL', 'ID', String(id), 'SKIPME', 'no']);
    const hasNew = async () => {
      const next = await redis.send('', ['CLIENT', 'ID']).catch(() => id);
      return next !== id;
    };
    await until('it is connected again', hasNew);
  });

  test('that wants a password says so', async t => {
    const { reason } = await refusal(t, `redis://${plain.address}`);
    assert.equal(reason, 'it wants a password');
  });

  test('says which commands and keys a user may not use, without naming them', async t => {
    const redis = await openedRedis(t, url('ada', PASSWORD));
    for (const args of [
      ['GET', 'counter:1'],
      ['INCR', 'private'],
    ])
      await assert.rejects(redis.send('a', args), {
        message: 'Redis: the user may not run this command, or not on this key',
      });
    const inScript = script(`return redis.call('GET', KEYS[1])`);
    await assert.rejects(redis.run(inScript, ['counter:1'], []), {
      message: 'Redis: the user may not run this command, or not on this key',
    });
  });

  const overTls = (files: Partial<Pick<Certificates, 'ca' | 'cert' | 'key'>>) => ({
    ...describeRedis(`rediss://${tls.address}`),
    tls: files,
  });

  test('over TLS is believed by its authority, and believes our certificate', async t => {
    const { ca, cert, key } = certificates;
    const redis = await openedRedis(t, overTls({ ca, cert, key }));
    assert.equal(await redis.send('a', ['PING']), 'PONG');
  });

  test('over TLS is refused when another authority has signed', async t => {
    const { cert, key } = certificates;
    for (const files of [
      { ca: others.ca, cert, key },
      { cert, key },
    ]) {
      const { reason } = await refusal(t, overTls(files));
      assert.match(
        String(reason),
        /^TLS failed, [A-Z_]+: none of the authorities \(REDIS_CA_FILE\)/,
      );
    }
  });

  test('over TLS is refused when its certificate is for another name', async t => {
    const { ca, cert, key } = certificates;
    const named = describeRedis(`rediss://localhost:${tls.port}`);
    const { reason } = await refusal(t, { ...named, tls: { ca, cert, key } });
    assert.match(String(reason), /^TLS failed, [A-Z_]+: .* another host than that of REDIS_URL$/);
  });

  test('over TLS is believed as a node of a cluster that is named by another address than that of REDIS_URL', async t => {
    const { ca, cert, key } = certificates;
    const node = await startRedis(async (_, port) => ({
      args: [
        ...withTls(port),
        ...['--bind', '127.0.0.1', '127.0.0.2', '--cluster-announce-ip', '127.0.0.2'],
        ...['--cluster-enabled', 'yes', '--cluster-port', `${await freePort()}`],
        ...['--tls-cluster', 'yes'],
      ],
    }));
    t.after(node.remove);
    const files = { tls: { ca, cert, key } };
    const one = await openedRedis(t, { ...describeRedis(`rediss://${node.address}`), ...files });
    await one.send('', ['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
    const of = (host: string) => ({
      ...describeRedis(`rediss-cluster://${host}:${node.port}`),
      ...files,
    });
    await until('it has all slots', async () =>
      String(await one.send('', ['CLUSTER', 'INFO'])).includes('cluster_state:ok'),
    );
    const { events, redis: cluster } = openRedis(t, of('127.0.0.1'));
    await until('its node answers', () =>
      events.some(({ address }) => /^127\.0\.0\.2/.test(address)),
    );
    assert.deepEqual(
      events.map(({ connected }) => connected),
      [true, true],
    );
    assert.equal(await cluster.send('a', ['SET', 'a', '1']), 'OK');
    const { reason } = await refusal(t, of('localhost'), 'connecting');
    assert.match(String(reason), /TLS failed, [A-Z_]+: .* another host than that of REDIS_URL$/);
  });

  test('over TLS refuses us without certificate, or with one of another authority', async t => {
    const { ca } = certificates;
    for (const files of [{ ca }, { ca, cert: others.cert, key: others.key }]) {
      const { reason } = await refusal(t, overTls(files));
      assert.match(String(reason), /^TLS failed|^the connection was (closed|reset)$/);
    }
  });

  test('without TLS does not answer to TLS, nor the other way round', async t => {
    const [a, b] = await Promise.all([
      refusal(t, { ...describeRedis(`rediss://${plain.address}`), tls: {} }, 'none'),
      refusal(t, `redis://${tls.address}`, 'none'),
    ]);
    for (const { reason } of [a, b])
      assert.match(String(reason), /TLS failed|the connection was|no answer/);
  });
});
