import { createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Counts how often Node asks the system for a name in the turn in which `run` begins. */
export async function countLookups(run: () => void): Promise<number> {
  let lookups = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'GETADDRINFOREQWRAP') lookups += 1;
    },
  }).enable();
  run();
  await nextTurn();
  hook.disable();
  return lookups;
}
