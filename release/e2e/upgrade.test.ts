import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { envoyBinary } from '#envoy/binary.ts';
import { handshake } from '#envoy/e2e/https-request.ts';
import { claimPortOffset, type PortOffset } from '#envoy/e2e/port-offset.ts';
import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { instancePorts, type Ports, portsAt } from '#launcher/ports.ts';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import {
  guardedPath,
  startCertifiedProvider,
  USER,
} from '../../ext-authz/e2e/certified-provider.ts';
import { edgeSession } from '../../ext-authz/e2e/edge-session.ts';
import {
  assertNothingLeft,
  type Gateway,
  pidsOf,
  startGateway,
} from '../../launcher/testing/gateway.ts';
import { olderVersion } from '../testing/older-version.ts';

const GUARDED = '/kept';
const RATE = 1000;
const today = () => Math.floor(Date.now() / 86_400_000);

/** The launcher tries routes before it announces them. It sends no such header. */
const COUNTED = { headers: { 'x-counted': 'yes' } };
const counted = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: counted }
spec:
  prefix: /counted
  headers: { x-counted: "yes" }
  rewrite: /user/health
  service: user-service
  resolver: sds
  labels: { gateway: [{ counted: [counted] }] }
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: counted }
spec:
  domain: gateway
  limits:
    - name: counted
      pattern: [{ generic_key: counted }]
      rate: ${RATE}
      unit: day
      injectResponseHeaders:
        - { name: X-Left, value: "{{ (index .RateLimitResponse.Statuses 0).LimitRemaining }}" }
`;

/** A Mapping that is in force until its file is damaged, and then by its last good version. */
const edited = (timeout: string) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: edited }
spec: { prefix: /edited, rewrite: /user/health, service: user-service, resolver: sds, timeout_ms: ${timeout} }
`;

const PERSON = JSON.stringify({ fullname: 'Ada Lovelace', password: 'difference' });

describe('an upgrade on the state of an older version', {
  skip: whyNoRedis() ?? false,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'upgrade-'));
  const [resources, state] = [join(folder, 'resources'), join(folder, 'state')];
  let older: string;
  let redis: RedisServer;
  let provider: { close(): Promise<void> };
  let port: PortOffset;
  let ports: Ports;
  let edge: string;
  let running: Gateway | undefined;
  before(
    async () => {
      [older, redis, port] = await Promise.all([olderVersion(), startRedis(), claimPortOffset()]);
      ports = portsAt(port.offset);
      edge = `http://127.0.0.1:${ports.edge}`;
      const login = { edge, port: instancePorts(port.offset, 41).proxy };
      provider = await startCertifiedProvider({ ...login, accessTokenTtl: 3600, refreshes: true });
      mkdirSync(resources);
      for (const file of ['user-service.yaml', 'https.yaml'])
        cpSync(join(older, 'envoy', 'resources', file), join(resources, file));
      writeFileSync(join(resources, 'kept.yaml'), guardedPath('kept', login));
      writeFileSync(join(resources, 'counted.yaml'), counted);
      writeFileSync(join(resources, 'edited.yaml'), edited('3000'));
    },
    { timeout: 280_000 },
  );
  after(async () => {
    await running?.remove();
    await provider?.close();
    await redis?.remove();
    port?.release();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Starts this version, or the one in the folder `cwd`, on the state that is there. */
  async function start(cwd?: string): Promise<void> {
    const command = [process.execPath, 'launcher/start.cjs'];
    running = await startGateway({
      ...(cwd !== undefined && { by: { command, cwd } }),
      args: ['--instances', '1', '--resources', resources],
      portOffset: port.offset,
      state,
      environment: {
        COUNTERS_REDIS_URL: `redis://${redis.address}`,
        ENVOY_BIN: await envoyBinary(),
      },
    });
    await running.ready();
    await until(async () => (await request(edge, GUARDED)).status === 303 || undefined);
  }

  async function stop(): Promise<void> {
    assert.ok(running !== undefined);
    const pids = await pidsOf(running);
    running.process.kill('SIGTERM');
    assert.equal(await running.exited, 0, running.said());
    await assertNothingLeft(pids, port.offset);
    running = undefined;
  }

  /** Of the last count. */
  let day = today();

  /**
   * Asks until the limit has answered, which on a busy machine it may do too late. Fails unless the
   * count goes on from `last`, or from all when another day has begun. Returns how many are left.
   */
  async function countOn(last: number, what: string): Promise<number> {
    let asked = 0;
    const left = await until(async () => {
      asked += 1;
      const { headers, status } = await request(edge, '/counted', COUNTED);
      assert.equal(status, 200);
      return headers['x-left'] === undefined ? undefined : Number(headers['x-left']);
    });
    const before = day === today() ? last : RATE;
    day = today();
    assert.ok(
      left < before && left >= before - asked,
      `${what}: ${before}, ${asked} asked, ${left}`,
    );
    return left;
  }

  const roots = () => readFileSync(join(state, 'authority', 'roots.pem'), 'utf8');

  async function logIn(): Promise<string> {
    return await edgeSession(edge, GUARDED, USER);
  }

  async function assertKnown(cookie: string): Promise<void> {
    const { body, status } = await request(edge, GUARDED, { headers: { cookie } });
    assert.deepEqual([status, /"username":"ada"/.test(body)], [200, true], body);
  }

  /** Asks all the time while `work` goes on. Tells what the clients of a single edge see of it. */
  async function tellLost(t: TestContext, what: string, work: () => Promise<void>): Promise<void> {
    const seen = new Map<string, number>();
    let isOver = false;
    const began = performance.now();
    const visitor = async () => {
      while (!isOver) {
        const answer = await request(edge, '/user/health').catch(
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        );
        const key = typeof answer === 'string' ? answer : String(answer.status);
        seen.set(key, (seen.get(key) ?? 0) + 1);
        await new Promise(resolve => setTimeout(resolve, 20));
      }
    };
    const visitors = [visitor(), visitor()];
    try {
      await work();
    } finally {
      isOver = true;
      await Promise.all(visitors);
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    t.diagnostic(`${what}, ${seconds} s: ${JSON.stringify(Object.fromEntries(seen))}`);
    // An edge that begins answers 503 while the instance behind it still starts.
    const known = ['200', '503', 'ECONNREFUSED', 'ECONNRESET'];
    assert.deepEqual(
      [...seen.keys()].filter(key => !known.includes(key)),
      [],
    );
  }

  test('and the way back keep sessions, users, counts, certificates and what is in force', async t => {
    await start(older);
    await request(edge, '/user/ada', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: PERSON,
    });
    const sessions = [await logIn()];
    let left = await countOn(RATE, 'begin');
    const ca = roots();
    const record = readFileSync(join(state, 'authority', 'roots.json'), 'utf8');
    await handshake({ port: ports.edgeTls, sni: 'localhost', ca });
    // Without its last good version this Mapping would be closed from now on.
    writeFileSync(join(resources, 'edited.yaml'), edited('soon'));

    for (const [what, cwd] of [
      ['upgrade', undefined],
      ['way back', older],
    ] as const) {
      await tellLost(t, what, async () => {
        await stop();
        await start(cwd);
      });
      for (const cookie of sessions) await assertKnown(cookie);
      assert.match((await request(edge, '/user/ada')).body, /Ada Lovelace/, what);
      left = await countOn(left, what);
      await handshake({ port: ports.edgeTls, sni: 'localhost', ca });
      assert.equal(roots(), ca, what);
      assert.equal(readFileSync(join(state, 'authority', 'roots.json'), 'utf8'), record, what);
      assert.equal((await request(edge, '/edited')).status, 200, `${what}: last good`);
      sessions.push(await logIn());
    }
    await stop();
  });
});
