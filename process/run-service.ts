import type { Logger } from 'pino';
import { type Exit, exitOf, orExit } from './exit.ts';
import { misspeltVariables } from './misspelt-variables.ts';
import { serviceLog } from './service-log.ts';

/** What a service starts with. */
export type ServiceParts<C> = { readonly config: C; readonly log: Logger; readonly exit: Exit };

/** A service that listens. */
export type Started = {
  /** Where it listens, for the log. */
  readonly facts: object;
  /** What else the process that started it hears. */
  readonly ready?: object;
  /** Stops, and lets what is in flight end within bounded time. */
  stop(): Promise<void>;
};

export type ServiceOptions<C> = {
  /** The name with which its sentences begin. */
  readonly name: string;
  readonly readConfig: () => C;
  readonly start: (parts: ServiceParts<C>) => Promise<Started>;
};

/**
 * Runs a service in this process until it is asked to stop, then exits 0. Tells the process that
 * started it when it is ready. A configuration that cannot be read ends it with a sentence and exit
 * code 1.
 */
export async function runService<C extends { readonly logLevel: string }>({
  name,
  readConfig,
  start,
}: ServiceOptions<C>): Promise<void> {
  const exit = exitOf(name);
  const config = await orExit(exit, readConfig);
  const log = serviceLog(config.logLevel);
  logWarnings(log);
  // The process that started this one tells it once for all.
  if (process.send === undefined)
    for (const sentence of misspeltVariables(process.env)) log.warn(sentence);
  const { facts, ready, stop } = await start({ config, log, exit });
  const ask = onStop(async reason => {
    log.info({ reason }, 'stopping');
    await stop();
    process.exit(0);
  });
  log.info(facts, 'listening');
  if (process.connected) process.send?.({ ready: true, ...ready });
  else if (process.send !== undefined) ask('supervisor gone while starting');
}

/**
 * Logs the warnings of Node as lines of ours. An experimental part of Node is our choice, so the
 * operator reads nothing of it.
 */
function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', err => {
    if (err.name !== 'ExperimentalWarning') log.warn({ err }, 'a warning of Node');
  });
}

/**
 * Calls `stop` once, when a signal comes or the supervisor is gone. A second signal ends the
 * process at once, except with `shielded`. A worker is told to stop by its leader, and often by a
 * terminal or an init as well.
 * @returns a function that asks for the same
 */
export function onStop(
  stop: (reason: string) => unknown,
  shielded = false,
): (reason: string) => void {
  const { promise: asked, resolve: ask } = Promise.withResolvers<string>();
  void asked.then(stop);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    if (shielded) process.on(signal, ask);
    else process.once(signal, ask);
  }
  process.once('disconnect', () => ask('supervisor gone'));
  return ask;
}
