import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handshake } from './https-request.ts';
import { occupyPort } from './occupied-port.ts';
import { startTlsSite } from './tls-site.ts';

/** Returns a listener of the edge beside its usual one. */
const listener = (name: string, port: number) => `
apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: ${name} }
spec: { node_group: edge, listener: { address: 127.0.0.1, port: ${port} } }
`;

test('a restart of the control plane costs no handshake while the edge rejects a resource', async t => {
  const { at, authority, stop, system } = await startTlsSite();
  t.after(stop);
  const holder = await occupyPort(system.freePort(0));
  t.after(() => holder.free());
  system.write('usual.yaml', listener('usual', system.ports.edge));
  await system.statusWhen(({ resources }) =>
    resources.some(({ id, state }) => id.endsWith('/usual') && state === 'in force'),
  );
  const isBlamed = () =>
    system.statusWhen(
      ({ problems, resources }) =>
        resources.every(({ state }) => state !== 'trying') &&
        problems.some(({ message, name }) => name === 'taken' && /^Envoy rejects/.test(message)),
    );
  system.write('taken.yaml', listener('taken', system.freePort(0)));
  await isBlamed();
  const failures: string[] = [];
  let done = false;
  const asking = (async () => {
    while (!done)
      await handshake(at('shop.example.com', { ca: authority.ca })).catch((error: Error) =>
        failures.push(error.message),
      );
  })();
  await system.kill('controlplane');
  await isBlamed().finally(() => {
    done = true;
  });
  await asking;
  assert.deepEqual(failures, []);
});
