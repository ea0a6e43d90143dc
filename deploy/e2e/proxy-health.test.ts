import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { probe as probeOf } from '../testing/compose-file.ts';

const PROBES = ['user-service-1', 'user-service-1-proxy'].map(
  name => [name, probeOf(name).slice(1)] as const,
);

/**
 * Process 1 of a container with what it runs, which is probed once. Prints whether the probe ended
 * it. Of two signals that wait for a process, the lower one ends it: SIGTERM (15) before SIGPROF
 * (27).
 */
const CONTAINER = `sleep infinity & runs=$!
"$@" 2>/dev/null &
wait $!
kill -PROF $runs
wait $runs
case $? in 143) echo ended ;; 155) echo stayed ;; esac`;

/**
 * Runs in a new process namespace. When `alone`, it also has a new network namespace with only the
 * loopback.
 */
function probe(command: readonly string[], { alone }: { alone: boolean }) {
  const namespaces = ['--pid', '--fork', '--mount-proc', ...(alone ? ['--net'] : [])];
  const args = [...namespaces, 'bash', '-c', CONTAINER, 'bash', ...command];
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  return spawnSync('unshare', args, { env, encoding: 'utf8' });
}

const skip =
  probe(['true'], { alone: false }).status === 0 ? false : 'needs unshare(1) and its rights';

for (const [name, command] of PROBES) {
  test(`${name} ends when the network that it is in has gone, to be started in the new one`, {
    skip,
  }, () => {
    assert.equal(probe(command, { alone: true }).stdout, 'ended\n');
  });

  test(`${name} stays when it is not healthy yet`, { skip }, () => {
    assert.equal(probe(command, { alone: false }).stdout, 'stayed\n');
  });
}
