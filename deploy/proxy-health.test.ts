import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { composeService } from './testing/compose-file.ts';

const PROBE = composeService('user-service-1-proxy').healthcheck?.test.at(-1) ?? '';

/** Process 1 of a container, which is probed once and says whether that ended it. */
const CONTAINER = `trap 'echo ended; exit' TERM; bash -c "$PROBE" 2>/dev/null & wait; echo stayed`;

/** In a new process namespace; in a new network namespace too, where there is nothing but the loopback, when `alone`. */
function probe({ alone }: { alone: boolean }) {
  const namespaces = ['--pid', '--fork', '--mount-proc', ...(alone ? ['--net'] : [])];
  const env = { PATH: process.env.PATH, PROBE };
  return spawnSync('unshare', [...namespaces, 'bash', '-c', CONTAINER], { env, encoding: 'utf8' });
}

const skip = probe({ alone: false }).status === 0 ? false : 'needs unshare(1) and its rights';

test('a proxy that lost the network of its instance ends, to be restarted in the new one', { skip }, () => {
  assert.equal(probe({ alone: true }).stdout, 'ended\n');
});

test('a proxy whose listener is not there is unhealthy, and stays', { skip }, () => {
  assert.equal(probe({ alone: false }).stdout, 'stayed\n');
});
