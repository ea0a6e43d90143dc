import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A file system in memory, which waits for no disk when a store of a test writes durably. */
const MEMORY = '/dev/shm';

/** In bytes. A run of all tests leaves far less behind until it ends. */
const ROOM = 8 * 2 ** 30;

export type Machine = {
  readonly env: NodeJS.ProcessEnv;
  /** The text of /proc/mounts, empty where there is none. */
  readonly mounts: string;
  /** In bytes, of memory and of that file system. */
  readonly free: number;
};

/** Returns the folder in which a run of tests makes its temporary folder. */
export function temporaryFolder({ env, free, mounts }: Machine = thisMachine()): string {
  const [, options = 'noexec'] = new RegExp(`^\\S+ ${MEMORY} tmpfs (\\S+)`, 'm').exec(mounts) ?? [];
  const fits = !/\b(?:noexec|ro)\b/.test(options) && free >= ROOM;
  return env.TMPDIR === undefined && fits ? MEMORY : tmpdir();
}

function thisMachine(): Machine {
  const { env } = process;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const free = Math.min(bavail * bsize, process.availableMemory());
    return { env, mounts: readFileSync('/proc/mounts', 'utf8'), free };
  } catch {
    return { env, mounts: '', free: 0 }; // not Linux
  }
}
