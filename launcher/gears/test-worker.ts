import { run } from 'node:test';
import { fileEvents, type RunnerEvent } from '../file-events.ts';
import type { FileEvent } from '../test-result.ts';
import { batches } from './batches.ts';
import { LONGEST_TEST_MS, ONE_FILE } from './limits.ts';
import { processorMs } from './processor-time.ts';
import type { WorkerMessage } from './test-pool.ts';
import { whatIsOpen } from './what-is-open.ts';

/**
 * Runs test files one after the other in this process, as its parent names them. A file has ended
 * when nothing keeps the process alive any more, as in a process of its own.
 */
const PATIENCE_MS = Number(process.env.GATEWAY_TEST_END_MS ?? 60_000);

/**
 * In bytes. What a test file keeps stays with its module, and collecting garbage takes the longer,
 * the more is kept.
 */
const MOST_HEAP = 300e6;

/** A test may replace the real timers by its own. */
const later = setTimeout;
const cancel = clearTimeout;

process.on('message', (file: string) => runFile(file));

function runFile(file: string): void {
  const started = performance.now();
  const used = process.argv.includes(ONE_FILE) ? 0 : processorMs();
  const events = run({ files: [file], isolation: 'none', timeout: LONGEST_TEST_MS });
  const environment = { ...process.env };
  const tell = (message: WorkerMessage) => process.send?.(message);
  // What a test is about to end with the process is told before.
  const { add, flush } = batches<FileEvent>(tell, performance.now.bind(performance));
  process.once('exit', flush);
  const watch = watchForTheEnd();
  const toldBy = fileEvents(file);
  // The channel keeps the process alive until its tests have come. Afterwards only they do.
  events.once('data', () => process.channel?.unref());
  process.once('beforeExit', () => process.channel?.ref());
  events.on('data', (event: RunnerEvent) => {
    watch.hear(event);
    const told = toldBy(event);
    if (told !== undefined) add(told, told.passed === undefined);
  });
  events.once('end', () => {
    watch.stop();
    for (const failed of leftBehind(environment)) add({ failed }, false);
    flush();
    process.off('exit', flush);
    const ms = performance.now() - started;
    const full = process.memoryUsage().heapUsed > MOST_HEAP;
    tell({ ended: file, full, ms, processorMs: processorMs() - used });
    if (process.argv.includes(ONE_FILE)) endWhenIdle();
  });
}

/**
 * Ends the process when nothing keeps it alive. Without `exit`, Node spins for ever in the clean-up
 * of handles after some broken connections.
 */
function endWhenIdle(): void {
  process.disconnect();
  process.once('beforeExit', () => process.exit());
}

/** Ends the process when a file has no test left and yet does not end, and says what keeps it. */
function watchForTheEnd(): { hear(event: RunnerEvent): void; stop(): void } {
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    hear: ({ data, type }) => {
      if (data.nesting !== 0) return;
      if (type === 'test:enqueue') open += 1;
      if (type === 'test:complete') open -= 1;
      cancel(timer);
      if (open === 0) timer = later(endWithReason, PATIENCE_MS).unref();
    },
    stop: () => cancel(timer),
  };
}

function endWithReason(): void {
  process.stderr.write(
    `does not end ${PATIENCE_MS} ms after its last test, open are: ${whatIsOpen()}\n`,
  );
  process.exit(1);
}

/** Returns what a file leaves to the next one in this process, and repairs it. */
function leftBehind(environment: NodeJS.ProcessEnv): readonly string[] {
  const names = new Set([...Object.keys(environment), ...Object.keys(process.env)]);
  const changed = [...names].filter(name => environment[name] !== process.env[name]);
  for (const name of changed) {
    const value = environment[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  const { exitCode } = process;
  process.exitCode = undefined;
  return [
    ...changed.map(name => `It leaves the environment variable ${name} changed`),
    ...(exitCode === undefined || exitCode === 0 ? [] : [`It leaves with exit code ${exitCode}`]),
  ];
}
