/**
 * A process that writes to a file of records until it is killed. Its arguments are `take <file>
 * <keys…>` or `create <file>`. It prints a line for each write.
 */
import { openSqliteRecordStore } from '../sqlite-record-store.ts';
import { bytes, freshKey, MINUTE } from './test-stores.ts';

const [mode, file = '', ...keys] = process.argv.slice(2);
const clock = { now: () => 1_700_000_000_000, uptime: () => performance.now() };
const store = await openSqliteRecordStore(file, { ...clock, timeoutMs: 30_000 });
if (mode === 'create')
  for (;;) {
    const key = freshKey();
    await store.create(key, bytes(key.repeat(50)), MINUTE, [{ name: 'all', most: 10_000 }]);
    await print(`${key}\n`);
  }
const taken = await Promise.all(keys.map(key => store.take(key)));
await print(`${keys.filter((_, index) => taken[index] !== undefined).join('\n')}\n`);
await store.close();

/** Waits where the reader is slow. */
function print(text: string): Promise<unknown> {
  return new Promise(resolve => process.stdout.write(text, resolve));
}
