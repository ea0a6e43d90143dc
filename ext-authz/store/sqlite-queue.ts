import type { Eventually } from '#process/eventually.ts';
import { StoreUnavailable } from './record-store.ts';

type Task = {
  readonly due: number;
  readonly attempt: () => boolean;
  readonly refuse: (error: Error) => void;
};

export type SqliteQueueOptions = {
  /** How many ms a task may wait for another process that holds the file. */
  readonly timeoutMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly uptime: () => number;
};

const MAX_WAITING = 10_000;
const PAUSE_MS = 2;
/**
 * The primary result code of «another connection holds the lock»,
 * https://sqlite.org/rescode.html#busy
 */
const SQLITE_BUSY = 5;
const BUSY_MESSAGE = 'SQLite: another process holds the file';

/**
 * Runs tasks on SQLite at once. While another process holds the file, tasks wait here in their
 * order. Waiting inside SQLite would delay every other request.
 */
export class SqliteQueue {
  readonly #timeoutMs: number;
  readonly #uptime: () => number;
  #tasks: Task[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor({ timeoutMs, uptime }: SqliteQueueOptions) {
    this.#timeoutMs = timeoutMs;
    this.#uptime = uptime;
  }

  /**
   * Returns what the task returns. Rejects with StoreUnavailable when SQLite fails, or another
   * process holds it for too long.
   */
  write<T>(task: () => T): Promise<T> {
    return this.#run(task, this.#tasks.length > 0);
  }

  /**
   * Returns what the task returns, mostly at once. It can overtake waiting writes, because readers
   * do not wait in WAL mode. Throws StoreUnavailable.
   */
  read<T>(task: () => T): Eventually<T> {
    try {
      return task();
    } catch (error) {
      if (codeOf(error) !== SQLITE_BUSY) throw toUnavailable(error);
      return this.#run(task, true);
    }
  }

  /** Refuses all tasks that wait. */
  close(): void {
    clearTimeout(this.#timer);
    for (const { refuse } of this.#tasks) refuse(new StoreUnavailable('SQLite: closed'));
    this.#tasks = [];
  }

  #run<T>(task: () => T, inLine: boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      const attempt = () => settle(task, resolve, reject);
      if (!inLine && attempt()) return;
      if (this.#tasks.length < MAX_WAITING) this.#wait(attempt, reject);
      else reject(new StoreUnavailable(BUSY_MESSAGE));
    });
  }

  #wait(attempt: Task['attempt'], refuse: Task['refuse']): void {
    this.#tasks.push({ due: this.#uptime() + this.#timeoutMs, attempt, refuse });
    this.#timer ??= setTimeout(this.#again, PAUSE_MS);
  }

  readonly #again = (): void => {
    this.#timer = undefined;
    const now = this.#uptime();
    const stuck = this.#tasks.findIndex(({ attempt, due, refuse }) => {
      if (attempt()) return false;
      if (due > now) return true;
      refuse(new StoreUnavailable(BUSY_MESSAGE));
      return false;
    });
    this.#tasks = stuck < 0 ? [] : this.#tasks.slice(stuck);
    if (stuck >= 0) this.#timer = setTimeout(this.#again, PAUSE_MS);
  };
}

/** Returns false when another process holds the file. Nothing has happened then. */
function settle<T>(
  task: () => T,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): boolean {
  try {
    resolve(task());
  } catch (error) {
    if (codeOf(error) === SQLITE_BUSY) return false;
    reject(toUnavailable(error));
  }
  return true;
}

/** Uses the text of the code, because messages may hold arguments. */
function toUnavailable(error: unknown): unknown {
  if (codeOf(error) !== undefined) return new StoreUnavailable(`SQLite: ${wordsOf(error)}`);
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
  return isClosed ? new StoreUnavailable('SQLite: closed') : error;
}

/** Returns the primary result code of an error of SQLite. The upper bits are the extended one. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

/** https://sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB. */
const SPOILT: readonly (number | undefined)[] = [11, 26];

function wordsOf(error: unknown): string {
  if (SPOILT.includes(codeOf(error)))
    return 'the file is damaged: remove it, which costs logins and nothing else';
  return error instanceof Error && 'errstr' in error ? String(error.errstr) : 'it failed';
}
