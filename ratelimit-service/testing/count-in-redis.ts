import { parseRedisAddress } from '#redis/description.ts';
import { openRedisCounterStore } from '../redis-counter-store.ts';

/**
 * A process that counts one key in windows of a second. Run `node count-in-redis.ts <address> <ms>
 * <callers> <skew of its clocks in ms>`. It prints what it has seen, as pairs of window and count.
 */
const [address = '', ms, callers, skew] = process.argv.slice(2);
// A replica whose own clock is wrong must count in the same windows as the others.
const wallClock = Date.now.bind(Date);
Date.now = () => wallClock() + Number(skew);

const description = parseRedisAddress(address);
if ('error' in description) throw new Error(description.error);
const store = openRedisCounterStore(description, {
  timeoutMs: 2000,
  random: Math.random,
  now: () => performance.now() + Number(skew),
});
while (!store.status().connected) await new Promise(resolve => setTimeout(resolve, 5));

const seen: (readonly [window: number, count: number])[] = [];
const end = performance.now() + Number(ms);
const caller = async () => {
  while (performance.now() < end) {
    const { counts, now } = await store.count([
      { counter: 'shared', group: '', windowMs: 1000, add: 1 },
    ]);
    seen.push([Math.floor(now / 1000), counts[0] ?? 0]);
  }
};
await Promise.all(Array.from({ length: Number(callers) }, caller));
await store.close();
process.stdout.write(JSON.stringify(seen));
