import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type FileEvent, type FileResult, NOTHING, withEvent } from '../test-result.ts';
import { LONGEST_TEST_MS, longestMs, ONE_FILE } from './limits.ts';
import { inOwnNetwork, makesInterfaces } from './own-network.ts';

/** A message of a worker: an event of its file, or that the file has ended. */
export type WorkerMessage = FileEvent | { readonly ended: string; readonly ms: number };

export type PoolOptions = {
  /** The folder that file names are relative to. */
  readonly root: string;
  /** How many processes run tests at the same time. */
  readonly workers: number;
  /** Whether a process runs one file after the other. Such files may start no program. */
  readonly sharing: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Hears of each file that has ended. */
  ended(file: string, result: FileResult): void;
};

const WORKER = join(import.meta.dirname, 'test-worker.ts');
const GUARD = join(import.meta.dirname, 'no-programs.ts');

/**
 * A worker ends a file that lasts too long, unless its one thread is kept busy. This is for that
 * case.
 */
const SILENCE_MS = LONGEST_TEST_MS + 90_000;

const running = new Set<ChildProcess>();

/** Runs test files in processes of their own, or in a few that they share. */
export async function runPool(files: readonly string[], options: PoolOptions): Promise<void> {
  const queue = files.values();
  const lanes = Math.min(options.workers, files.length);
  await Promise.all(Array.from({ length: lanes }, () => runLane(queue, options)));
}

/** Ends the running tests when the run is interrupted. */
export function stopPool(signal: NodeJS.Signals): void {
  for (const worker of running) worker.kill(signal);
}

async function runLane(queue: Iterator<string>, options: PoolOptions): Promise<void> {
  let worker: ChildProcess | undefined;
  for (let next = queue.next(); !next.done; next = queue.next()) {
    if (worker?.connected !== true) worker = startWorker(next.value, options);
    const { alive, result } = await runFile(
      worker,
      join(options.root, next.value),
      options.sharing,
    );
    if (!alive) worker = undefined;
    options.ended(next.value, result);
  }
  if (worker?.connected) worker.disconnect();
}

function startWorker(file: string, { env, sharing }: PoolOptions): ChildProcess {
  const execArgv = sharing ? ['--import', GUARD] : [];
  const args = sharing ? [] : [ONE_FILE];
  const how = (makesInterfaces(file) && inOwnNetwork(process.execPath)) || { execArgv };
  const worker = fork(WORKER, args, { env, ...how, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  running.add(worker);
  worker.once('close', () => running.delete(worker));
  return worker;
}

type FileRun = { readonly result: FileResult; readonly alive: boolean };

/** Runs one file in the worker, until the file or the worker has ended. */
function runFile(worker: ChildProcess, path: string, sharing: boolean): Promise<FileRun> {
  const { promise, resolve } = Promise.withResolvers<FileRun>();
  const tells = new AbortController();
  const silence = setTimeout(() => worker.kill('SIGKILL'), longestMs(path) ?? SILENCE_MS);
  let result = NOTHING;
  let ended = false;
  const hear = (event: FileEvent) => {
    result = withEvent(result, event);
  };
  const finish = (alive: boolean) => {
    clearTimeout(silence);
    tells.abort();
    resolve({ result, alive });
  };
  listen(worker, tells.signal, {
    output: text => hear({ output: text }),
    message: message => {
      silence.refresh();
      if (!('ended' in message)) return hear(message);
      ended = true;
      result = { ...result, ms: message.ms };
      if (sharing) finish(true);
    },
    closed: how => {
      if (!ended || how !== 'code 0') hear({ failed: `Its process ended with ${how}` });
      finish(false);
    },
  });
  worker.send(path, error => error && hear({ failed: `It cannot be run: ${error.message}` }));
  return promise;
}

type Listener = {
  output(text: string): void;
  message(message: WorkerMessage): void;
  /** The worker has ended, and all its messages have come. */
  closed(how: string): void;
};

/** Listens to the worker until the signal is aborted. */
function listen(worker: ChildProcess, until: AbortSignal, listener: Listener): void {
  const output = (chunk: unknown) => listener.output(String(chunk));
  const closed = (code: number | null, signal: string | null) =>
    listener.closed(signal ?? `code ${code}`);
  for (const stream of [worker.stdout, worker.stderr]) stream?.on('data', output);
  worker.on('message', listener.message).on('close', closed);
  until.addEventListener('abort', () => {
    for (const stream of [worker.stdout, worker.stderr]) stream?.off('data', output);
    worker.off('message', listener.message).off('close', closed);
  });
}
