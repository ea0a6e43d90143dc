import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { handshake } from './https-request.ts';
import { occupyPort } from './occupied-port.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { startTlsSite } from './tls-site.ts';
import { startUpstream } from './upstream.ts';

/** Returns a listener of the edge beside its usual one. */
const listener = (name: string, port: number) => `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: ${name} }
spec: { node_group: edge, listener: { address: 127.0.0.1, port: ${port} } }
`;

const isBlamed = (system: System) =>
  system.statusWhen(
    ({ problems, resources }) =>
      resources.every(({ state }) => state !== 'trying') &&
      problems.some(({ message, name }) => name === 'taken' && /^Envoy rejects/.test(message)),
  );

/** Has the edge reject a listener, since its port is occupied. */
async function rejectOne(t: TestContext, system: System): Promise<void> {
  const holder = await occupyPort(system.freePort(0));
  t.after(() => holder.free());
  system.write('usual.yaml', listener('usual', system.ports.edge));
  await system.statusWhen(({ resources }) =>
    resources.some(({ id, state }) => id.endsWith('/usual') && state === 'in force'),
  );
  system.write('taken.yaml', listener('taken', system.freePort(0)));
  await isBlamed(system);
}

/** Asks again and again until it is done. Returns what failed. */
async function whileAsking(ask: () => Promise<unknown>, run: () => Promise<unknown>) {
  const failures: string[] = [];
  let done = false;
  const asking = (async () => {
    while (!done) await ask().catch((error: Error) => failures.push(error.message));
  })();
  await run().finally(() => {
    done = true;
  });
  await asking;
  return failures;
}

test('a restart of the control plane costs no handshake while the edge rejects a resource', async t => {
  const { at, authority, stop, system } = await startTlsSite();
  t.after(stop);
  await rejectOne(t, system);
  const failures = await whileAsking(
    () => handshake(at('shop.example.com', { ca: authority.ca })),
    async () => {
      await system.kill('controlplane');
      await isBlamed(system);
    },
  );
  assert.deepEqual(failures, []);
});

test('a restart without what was stored costs no request while a port is taken', async t => {
  const upstream = await startUpstream('upstream');
  const mapping = `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: shop }
spec: { prefix: /shop/, service: "127.0.0.1:${upstream.port}" }
`;
  const system = await startSystem({ resources: { 'shop.yaml': mapping } });
  t.after(async () => {
    await system.stop();
    await upstream.close();
  });
  await rejectOne(t, system);
  const failures = await whileAsking(
    async () => assert.equal((await request(system.edge, '/shop/')).status, 200),
    async () => {
      const stored = join(system.state, 'last-good.json');
      await system.whileAway('controlplane', async () => rmSync(stored));
      await isBlamed(system);
    },
  );
  assert.deepEqual(failures, []);
});
