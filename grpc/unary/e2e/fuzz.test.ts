import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { fuzz } from '../testing/fuzz.ts';
import { describeHarm, Victim } from '../testing/victim.ts';

/** Seeds from here on. `testing/fuzz-by-hand.ts` runs 10 minutes of other seeds. */
const FIRST = 1;
const CONNECTIONS = 1_500;
const MAX_GROWN_MIB = 96;

test('random frames neither stop the server, nor stay with it, nor disturb another connection', {
  timeout: 60_000,
}, async t => {
  const victim = await Victim.start();
  t.after(() => victim.stop());
  const harm = await victim.under(() =>
    fuzz(victim.port, FIRST, seed => seed < FIRST + CONNECTIONS),
  );
  t.diagnostic(describeHarm(harm));
  assert.ok(harm.grownMib < MAX_GROWN_MIB, `memory grew by ${harm.grownMib} MiB`);
  await until(async () => (await victim.held()).connections === 1 || undefined);
});
