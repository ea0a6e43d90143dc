import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpRequest } from '../http-request.ts';
import { portsAt } from '../ports.ts';
import { attack } from '../testing/fuzz/attack.ts';
import { describeAttack } from '../testing/fuzz/describe-attack.ts';
import { startGateway } from '../testing/gateway.ts';

/**
 * Seeds from here on. `npx node launcher/testing/fuzz-ports.ts --minutes 30` sends others for
 * longer.
 */
const FIRST = 1;
const REQUESTS = 1_500;

test('mutations of recorded requests end no process, and no stream of the edge', {
  timeout: 120_000,
}, async t => {
  const gateway = await startGateway({ args: ['--instances', '1'] });
  t.after(() => gateway.remove());
  await gateway.ready();
  const address = `127.0.0.1:${portsAt(gateway.portOffset).http}`;
  const streamsOfEdge = async () => {
    const { body } = await httpRequest({ address, path: '/status' });
    const { proxies } = JSON.parse(body) as {
      proxies: readonly { node: string; address: string }[];
    };
    return proxies.filter(({ node }) => node === 'edge').map(proxy => proxy.address);
  };
  const before = await streamsOfEdge();
  const report = await attack(gateway, {
    first: FIRST,
    workers: 4,
    goesOn: seed => seed < FIRST + REQUESTS,
  });
  t.diagnostic(describeAttack(report));
  assert.deepEqual(report.exits, []);
  assert.deepEqual([before.length, await streamsOfEdge()], [1, before]);
  for (const [name, { answered }] of report.counts)
    assert.ok(answered > 0, `${name} answered nothing`);
});
