import { describe, test } from 'node:test';
import { assertNothingLeft, pidsOf, startGateway } from '../testing/gateway.ts';

/** Which process of `npm start` is killed outright, and how to find it. */
const VICTIMS = ['npm', 'launcher', 'supervisor'] as const;

describe('nothing is left of a gateway after killing', () => {
  for (const victim of VICTIMS) {
    test(victim, async t => {
      const gateway = await startGateway({ by: victim === 'npm' ? 'npm' : 'start.cjs' });
      t.after(() => gateway.remove());
      await gateway.ready();
      const pids = await pidsOf(gateway);
      const [started = 0, supervisor = 0] = pids;
      process.kill(victim === 'supervisor' ? supervisor : started, 'SIGKILL');
      await assertNothingLeft(pids, gateway.portOffset);
    });
  }
});
