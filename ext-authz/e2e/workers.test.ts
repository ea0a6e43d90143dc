import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { passwordClient, webClient } from '../testing/oidc-clients.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { guardedPath, USER } from './certified-provider.ts';
import { connectDirectly } from './direct-client.ts';
import { edgeSession } from './edge-session.ts';

const WORKERS = 2;
const CLIENTS = 4;
const PATIENCE_MS = 30_000;
const PATH = '/kept';
/** As the service compares it, without port. */
const ORIGIN = 'http://127.0.0.1';

describe('two workers of the service that checks logins', () => {
  let system: System;
  let provider: OidcProvider;
  before(async () => {
    system = await startSystem({ environment: { WORKERS: String(WORKERS) } });
    const { edge } = system;
    const secret = { client_secret: 'secret' };
    const redirects = [`${edge}/.gateway/oauth2/redirection-endpoint`];
    const port = system.freePort(0);
    provider = await startOidcProvider({
      clients: [
        webClient({ client_id: 'site', ...secret }, redirects),
        passwordClient({ client_id: 'people', ...secret }),
      ],
      users: [USER],
      jwtClients: ['site', 'people'],
      port,
    });
    system.write('kept.yaml', guardedPath('kept', { edge, port }));
    system.write('people.yaml', peoplePath(port));
    await until(async () => (await request(edge, PATH)).status === 303 || undefined, PATIENCE_MS);
    await until(
      async () => (await request(edge, '/people')).status === 403 || undefined,
      PATIENCE_MS,
    );
  });
  after(async () => {
    await provider?.close();
    await system?.stop();
  });

  /** Connections to the service, which are given to its workers in turn. */
  function clients(t: TestContext) {
    const all = Array.from({ length: 3 * WORKERS }, () => connectDirectly(system.ports.extAuthz));
    t.after(() => all.forEach(client => void client.close()));
    return all;
  }

  /** By the number of the worker, the process that listened last. */
  function pids(): ReadonlyMap<number, number> {
    const log = readFileSync(join(system.state, 'logs', 'ext-authz.log'), 'utf8');
    const lines = log
      .split('\n')
      .slice(0, -1) // what is being written
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line));
    return new Map(
      lines.flatMap(({ msg, pid, worker }) => (msg === 'listening' ? [[worker, pid]] : [])),
    );
  }

  test('know of a login at one of them, and of its logout, at once', async t => {
    const cookie = await edgeSession(system.edge, PATH, USER);
    const all = clients(t);
    const statuses = async () => {
      const asked = all.map(client => client.statusOf(`${ORIGIN}${PATH}`, { cookie }));
      return [...new Set(await Promise.all(asked))];
    };
    assert.deepEqual(await statuses(), [200]);
    assert.deepEqual(await statuses(), [200], 'once more, when all remember it');
    const xsrf = /gateway_xsrf\.kept\.default=([^;]*)/.exec(cookie)?.[1] ?? '';
    const out = await request(system.edge, '/.gateway/oauth2/logout', {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: `realm=kept.default&_xsrf=${xsrf}`,
    });
    assert.equal(out.status, 303, out.body);
    assert.deepEqual(await statuses(), [303]);
  });

  test('try no more wrong passwords together than one would', async t => {
    const all = clients(t);
    const attempts = Array.from({ length: 60 }, (_, guess) =>
      all[guess % all.length]?.statusOf(`${ORIGIN}/people`, {
        'x-gateway-username': 'ada',
        'x-gateway-password': `guess ${guess}`,
      }),
    );
    const tally = Map.groupBy(await Promise.all(attempts), status => status);
    assert.deepEqual([tally.get(403)?.length, tally.get(429)?.length], [5, 55]);
  });

  for (const [signal, mostLost] of [
    ['SIGTERM', 0],
    ['SIGKILL', CLIENTS],
  ] as const)
    test(`are ended by ${signal} one after the other, under load: each time ${mostLost} requests are lost at most`, async t => {
      const cookie = await edgeSession(system.edge, PATH, USER);
      const crowd = Array.from({ length: CLIENTS }, () => visitor(system.edge, { cookie }));
      const stranger = visitor(system.edge, { cookie: 'gateway_session.kept.default=none' });
      t.after(() => [...crowd, stranger].forEach(({ stop }) => void stop()));
      for (let number = 1; number <= WORKERS; number += 1) {
        const pid = pids().get(number) ?? 0;
        const marks = crowd.map(({ seen }) => seen.length + 20);
        process.kill(pid, signal);
        await until(() => pids().get(number) !== pid || undefined, PATIENCE_MS, 'the next process');
        await until(
          () => crowd.every(({ seen }, at) => seen.length > (marks[at] ?? 0)) || undefined,
          PATIENCE_MS,
        );
      }
      await Promise.all([...crowd, stranger].map(({ stop }) => stop()));
      const lost = crowd.flatMap(({ seen }) => seen.filter(status => status !== 200));
      t.diagnostic(`${crowd.flatMap(({ seen }) => seen).length} requests, lost: ${lost}`);
      // Envoy asks over one connection. This is what one of them was asked when it was killed.
      assert.ok(lost.length <= WORKERS * mostLost, String(lost));
      for (const status of lost) assert.equal(status, 503);
      for (const status of stranger.seen) assert.ok([303, 503].includes(status), String(status));
    });
});

/** Asks again as soon as he was answered. */
function visitor(edge: string, headers: Readonly<Record<string, string>>) {
  const seen: number[] = [];
  let over = false;
  const run = async () => {
    while (!over) seen.push((await request(edge, PATH, { headers })).status);
  };
  const running = run();
  const stop = () => {
    over = true;
    return running;
  };
  return { seen, stop };
}

/** Puts `/people` behind user names and passwords. */
function peoplePath(port: number): string {
  return `apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: people }
spec:
  OAuth2: { authorizationURL: "http://127.0.0.1:${port}", grantType: Password, clientID: people, secret: secret }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: people }
spec:
  rules: [{ path: "/people*", filters: [{ name: people }] }]
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: people }
spec: { prefix: /people, service: user-service, resolver: sds }
`;
}
