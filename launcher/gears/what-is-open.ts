import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TASKS = '/proc/self/task';
/** Node's name of the threads that do file I/O. */
const FILE_THREAD = 'libuv-worker';

/**
 * Returns what keeps this process alive, and in which function of the kernel its threads for file
 * I/O are. One that has nothing to do waits for a futex. Any other is what a slow call waits in.
 */
export function whatIsOpen(): string {
  const threads = fileThreads().join(', ');
  const open = process.getActiveResourcesInfo().join(', ');
  return threads === '' ? open : `${open}. Its threads for files are in: ${threads}`;
}

/** Returns none where there is no such folder, as on macOS. */
function fileThreads(): readonly string[] {
  try {
    const read = (id: string, file: string) => readFileSync(join(TASKS, id, file), 'utf8').trim();
    return readdirSync(TASKS)
      .filter(id => read(id, 'comm') === FILE_THREAD)
      .map(id => read(id, 'wchan'));
  } catch {
    return [];
  }
}
