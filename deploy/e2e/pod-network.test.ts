import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { whyNoTestHosts } from '#envoy/e2e/test-hosts.ts';
import { makePodNetwork } from '../testing/pod-network.ts';

const MODULE = join(import.meta.dirname, '../testing/pod-network.ts');
/** Makes a network with a machine, and is killed. */
const PROGRAM = `
import { makePodNetwork } from ${JSON.stringify(MODULE)};
await makePodNetwork().add();
process.kill(process.pid, 'SIGKILL');
`;

test('the network of a process that was killed is removed when the next one is made', {
  skip: whyNoTestHosts() ?? false,
}, t => {
  const { pid, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM]);
  assert.equal(signal, 'SIGKILL');
  const places = [`/sys/class/net/gw${pid}`, `/run/netns/gw${pid}n2`];
  assert.deepEqual(places.map(existsSync), [true, true]);
  const network = makePodNetwork();
  t.after(network.remove);
  assert.deepEqual(places.map(existsSync), [false, false]);
});

test('machines keep reaching this one, whichever of them come and go', {
  skip: whyNoTestHosts() ?? false,
}, async t => {
  const network = makePodNetwork();
  t.after(network.remove);
  const address = () => readFileSync(`/sys/class/net/gw${process.pid}/address`, 'utf8');
  const before = address();
  const machines = [];
  for (let each = 0; each < 8; each++) {
    machines.push(await network.add());
    assert.equal(address(), before);
  }
  for (const machine of machines) {
    await network.drop(machine);
    assert.equal(address(), before);
  }
});
