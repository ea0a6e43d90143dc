import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { hearLines } from './hear-lines.ts';
import type { LogFile } from './log-file.ts';
import type { OrphanGuard } from './orphan-guard.ts';
import type { Part } from './part.ts';
import { noticeInLine, problemInLine } from './problem-line.ts';

export type RunOptions = {
  readonly guard: OrphanGuard;
  readonly log: LogFile;
  /** Hears of each problem in the process's output. */
  problem(text: string): void;
  /** Hears of what the process prints for the console although it is no problem. */
  notice(text: string): void;
  ready(): void;
  /**
   * Hears of the end, in words, with the last text on stderr. `runnable` is false when no other try
   * would help.
   */
  ended(how: string, runnable: boolean): void;
};

/** How often a probe asks, in ms. */
const PROBE_MS = 50;

/** How many last plain lines of stderr are kept. A crash leaves its reason there. */
const LAST_WORDS = 40;

/**
 * Spawns the part once, in a process group of its own. The Ctrl-C of a terminal must not reach it
 * before it is drained. Its output goes to the log.
 * @returns undefined when it could not be spawned, of which `ended` hears
 */
export function runPart(part: Part, options: RunOptions): ChildProcess | undefined {
  const child = trySpawn(part, options);
  if (child === undefined) return undefined;
  if (child.pid !== undefined) options.guard.watch(child.pid);
  const lastWords = followOutput(child, options);
  watchReadiness(child, part, options);
  watchEnd(child, lastWords, options);
  return child;
}

/** Node throws some of the system's errors, such as ENOMEM, and emits others, such as EAGAIN. */
function trySpawn({ argv, env, probe }: Part, options: RunOptions): ChildProcess | undefined {
  const [file = '', ...args] = options.guard.wrap(argv);
  try {
    return spawn(file, args, {
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', probe === undefined ? 'ipc' : 'ignore'],
    });
  } catch (error) {
    process.nextTick(() => notRun(error, options));
    return undefined;
  }
}

/** There is no such program, or it is none for here. Other errors may pass, such as EAGAIN. */
const NO_PROGRAM: readonly unknown[] = ['ENOENT', 'EACCES', 'ENOEXEC'];

function notRun(error: unknown, { ended }: RunOptions): void {
  const { code, message } = Object(error) as Partial<NodeJS.ErrnoException>;
  ended(`cannot be run: ${message}`, !NO_PROGRAM.includes(code));
}

/** Returns the last plain lines of stderr, kept up to date. */
function followOutput(
  child: ChildProcess,
  { log, notice, problem }: RunOptions,
): readonly string[] {
  const lastWords: string[] = [];
  const follow = (stream: Readable | null | undefined, plain: (line: string) => void) => {
    // Without a file left (EMFILE) there is none.
    if (!stream) return;
    hearLines(stream, line => {
      log.write(`${line}\n`);
      const told = noticeInLine(line);
      const text = problemInLine(line);
      if (told !== undefined) notice(told);
      else if (text !== undefined) problem(text);
      else plain(line);
    });
  };
  follow(child.stdout, () => {});
  follow(child.stderr, line => {
    if (line.trim() === '' || line.startsWith('[') || line.startsWith('{')) return;
    lastWords.push(line.trim());
    if (lastWords.length > LAST_WORDS) lastWords.shift();
  });
  return lastWords;
}

function watchReadiness(child: ChildProcess, { probe }: Part, { ready }: RunOptions): void {
  if (probe === undefined) {
    child.on('message', message => {
      if (typeof message === 'object' && 'ready' in message) ready();
    });
    return;
  }
  const ask = async () => {
    const answer = await probe();
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    if (answer) ready();
    else setTimeout(ask, PROBE_MS);
  };
  void ask();
}

function watchEnd(child: ChildProcess, lastWords: readonly string[], options: RunOptions): void {
  const { guard, ended } = options;
  child.once('error', error => {
    if (child.pid === undefined) notRun(error, options);
  });
  child.once('close', (code, signal) => {
    if (child.pid === undefined) return;
    guard.forget(child.pid);
    const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    ended([how, reasonIn(lastWords)].filter(text => text !== undefined).join(': '), true);
  });
}

/**
 * Returns the line with the message in what Node prints of an uncaught error, else the last line.
 */
function reasonIn(lines: readonly string[]): string | undefined {
  return lines.findLast(line => /^\w*Error\b.*: /.test(line)) ?? lines.at(-1);
}
