import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Problem } from '#resources/problem.ts';
import { occupyPort } from './occupied-port.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { tryConnect } from './try-connect.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Returns a listener of the edge beside its usual one. */
function listener(name: string, port: number): string {
  return `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: ${name} }
spec:
  node_group: edge
  listener: { address: 127.0.0.1, port: ${port} }
`;
}

function mapping(name: string, port: number): string {
  return `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec: { prefix: /${name}/, service: "127.0.0.1:${port}" }
`;
}

const errors = (problems: readonly Problem[]) =>
  problems.filter(({ severity }) => severity === 'error');

describe('when the edge Envoy refuses a listener', () => {
  let system: System;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream('upstream');
    system = await startSystem({ resources: { 'first.yaml': mapping('first', upstream.port) } });
    system.write('usual.yaml', listener('usual', system.ports.edge));
    await system.statusWhen(({ resources }) =>
      resources.some(({ id, state }) => isGood('usual', id, state)),
    );
  });
  after(async () => {
    await system.stop();
    await upstream.close();
  });

  const isGood = (name: string, id: string, state: string) =>
    id.endsWith(`/${name}`) && state === 'in force';
  const isServed = (path: string) =>
    until(
      async () => (await statusOf(system.edge, path)) === 200 || undefined,
      30_000,
      `${path} is served`,
    );
  const isOpen = (port: number) =>
    until(async () => (await tryConnect(port)) || undefined, 30_000, `port ${port} is open`);

  /** Waits until everything is decided and exactly one resource is blamed. */
  async function blame(): Promise<Problem> {
    const { problems } = await system.statusWhen(({ problems, resources }) => {
      // While the resource is not found yet, the Problem is of the Envoy itself.
      const found = errors(problems).map(({ kind }) => kind);
      return resources.every(({ state }) => state !== 'trying') && found.join() === 'ProxyConfig';
    });
    const [problem] = errors(problems);
    assert.ok(problem !== undefined);
    return problem;
  }

  /**
   * Writes a listener on a port that is occupied, sees which resource is blamed, frees the port and
   * sees it recover, by itself or by an edit.
   */
  async function refuseAndMend(
    name: string,
    port: number,
    others: readonly string[],
    isEdited: boolean,
  ): Promise<void> {
    const holder = await occupyPort(port);
    const texts = others.map(other => mapping(other, upstream.port));
    system.write(`${name}.yaml`, [listener(name, port), ...texts].join('\n---\n'));
    const problem = await blame();
    assert.deepEqual([problem.kind, problem.name, problem.line], ['ProxyConfig', name, 2]);
    assert.ok(problem.file.endsWith(`/${name}.yaml`), problem.file);
    assert.match(problem.message, /^Envoy rejects it: .*(cannot bind|Address already in use)/);
    for (const other of ['first', ...others]) await isServed(`/${other}/`);
    await holder.free();
    const edited = [`# mended${listener(name, port)}`, ...texts].join('\n---\n');
    if (isEdited) system.write(`${name}.yaml`, edited);
    await isOpen(port);
    await system.statusWhen(({ problems }) => errors(problems).length === 0);
    assert.equal(await statusOf(`http://127.0.0.1:${port}`, '/first/'), 200);
  }

  test('that one is blamed, other changes are accepted, and an edit solves it', () =>
    refuseAndMend('taken', system.freePort(0), ['second'], true));

  test('it is found among 40 other resources, and in force once the port is free', async t => {
    const others = Array.from({ length: 40 }, (_, at) => `other-${at}`);
    const begin = performance.now();
    await refuseAndMend('crowded', system.freePort(1), others, false);
    t.diagnostic(`found and mended in ${Math.round(performance.now() - begin)} ms`);
  });

  test('its last good version stays in force, also for an Envoy that comes later', async t => {
    const [good, taken] = [system.freePort(2), system.freePort(3)];
    system.write('moving.yaml', listener('moving', good));
    await isOpen(good);
    const holder = await occupyPort(taken);
    t.after(() => holder.free());
    const refusals = await whileKnocking(good, async () => {
      system.write('moving.yaml', listener('moving', taken));
      assert.equal((await blame()).name, 'moving');
    });
    assert.equal(refusals, 0, 'it is open while the other is tried');
    const killed = await system.kill('edge');
    const isAnother = (pid: number | undefined) => pid !== undefined && pid !== killed;
    await until(
      async () => isAnother(await system.pid('edge')) || undefined,
      30_000,
      'another edge',
    );
    await isOpen(good);
    await isServed('/first/');
    assert.equal((await blame()).name, 'moving');
    const { resources } = await system.status();
    assert.equal(resources.find(({ id }) => id.endsWith('/moving'))?.state, 'last good');
  });
});

/** Returns how many connections to the port were refused meanwhile. */
async function whileKnocking(port: number, action: () => Promise<void>): Promise<number> {
  let refusals = 0;
  let done = false;
  const knocking = (async () => {
    while (!done) if (!(await tryConnect(port))) refusals += 1;
  })();
  try {
    await action();
  } finally {
    done = true;
    await knocking;
  }
  return refusals;
}

/** Returns 0 when there is no answer. */
async function statusOf(base: string, path: string): Promise<number> {
  return await request(base, path).then(
    ({ status }) => status,
    () => 0,
  );
}
