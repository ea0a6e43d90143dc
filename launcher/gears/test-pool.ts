import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type FileEvent, type FileResult, NOTHING, withEvent } from '../test-result.ts';
import { LONGEST_TEST_MS, longestMs, ONE_FILE } from './limits.ts';
import { inOwnNetwork, makesInterfaces } from './own-network.ts';
import { idleShare } from './processor-time.ts';

/** A message of a worker: events of its file, or that the file has ended. */
export type WorkerMessage =
  | readonly FileEvent[]
  | ({
      readonly ended: string;
      /** Whether the worker holds so much memory that another one should run the next file. */
      readonly full: boolean;
    } & Pick<FileResult, 'ms' | 'processorMs'>);

export type PoolOptions = {
  /** The folder that file names are relative to. */
  readonly root: string;
  /** How many processes run tests at the same time. */
  workers(): number;
  /** How many there may be while the machine has time left. Default: no more. */
  readonly most?: number;
  /** Whether a process runs one file after the other, until one of them fails. */
  readonly sharing: boolean;
  /** Whether files that share a process may start programs. Default: they may not. */
  readonly programs?: boolean;
  /** Whether a file has a process of its own all the same. Default: none has. */
  apart?(file: string): boolean;
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

/** How often the machine is looked at, in ms. */
const LOOK_MS = 1_000;

/** The idle share of the machine above which one more lane begins, and below which one ends. */
const IDLE = { enough: 0.1, none: 0.03 };

/** Runs test files in their order, in processes of their own, or in a few that they share. */
export async function runPool(files: readonly string[], options: PoolOptions): Promise<void> {
  const { most = 0, workers } = options;
  const queue = [...files];
  const lanes: Promise<void>[] = [];
  let [open, idle] = [0, 0];
  const next = () => (open > workers() && idle < IDLE.none ? undefined : queue.shift());
  const begin = async () => {
    open += 1;
    await runLane(next, options);
    open -= 1;
  };
  const fill = () => {
    const another = idle > IDLE.enough ? Math.min(most, open + 1) : 0;
    const missing = Math.max(workers(), another) - open;
    for (let more = Math.min(missing, queue.length); more > 0; more -= 1) lanes.push(begin());
  };
  const idleSince = idleShare();
  const look = setInterval(() => {
    idle = idleSince();
    fill();
  }, LOOK_MS);
  fill();
  // More lanes come only while one runs.
  for (const lane of lanes) await lane;
  clearInterval(look);
}

/** Ends the running tests when the run is interrupted. */
export function stopPool(signal: NodeJS.Signals): void {
  for (const worker of running) worker.kill(signal);
}

async function runLane(next: () => string | undefined, options: PoolOptions): Promise<void> {
  let worker: ChildProcess | undefined;
  for (let file = next(); file !== undefined; file = next()) {
    const shares = options.sharing && !makesInterfaces(file) && !options.apart?.(file);
    const own = shares && worker?.connected ? worker : startWorker(file, shares, options);
    const { result, usable } = await runFile(own, join(options.root, file), shares);
    if (shares) worker = usable ? own : ended(own);
    // A file that failed may have left programs behind.
    if (options.programs && result.failed.length > 0) worker = ended(worker);
    options.ended(file, result);
  }
  ended(worker);
}

function ended(worker: ChildProcess | undefined): undefined {
  if (worker?.connected) worker.disconnect();
}

function startWorker(file: string, shares: boolean, { env, programs }: PoolOptions): ChildProcess {
  const execArgv = shares && !programs ? ['--import', GUARD] : [];
  const args = shares ? [] : [ONE_FILE];
  const how = (makesInterfaces(file) && inOwnNetwork(process.execPath)) || { execArgv };
  const worker = fork(WORKER, args, { env, ...how, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  running.add(worker);
  worker.once('close', () => running.delete(worker));
  return worker;
}

/** `usable`: whether the worker may run one more file. */
type FileRun = { readonly result: FileResult; readonly usable: boolean };

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
  const finish = (usable: boolean) => {
    clearTimeout(silence);
    tells.abort();
    resolve({ result, usable });
  };
  listen(worker, tells.signal, {
    output: text => hear({ output: text }),
    message: message => {
      silence.refresh();
      if (!('ended' in message)) return message.forEach(hear);
      ended = true;
      result = { ...result, ms: message.ms, processorMs: message.processorMs };
      if (sharing) finish(!message.full);
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
