import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isJsonObject } from '#protos/json.ts';
import { endProcess } from './end-process.ts';

/** The HTTP/2 implementations of our services. */
export const SERVERS = ['grpc-js', 'framed'] as const;
export type Server = (typeof SERVERS)[number];

/** A service under test, with the process ids of those whose CPU time is its cost. */
export type DecisionService = {
  readonly port: number;
  readonly service: number;
  readonly store: number | undefined;
  stop(): Promise<void>;
};

type Environment = Readonly<Record<string, string>>;

/**
 * Starts a program that reports over IPC where it listens and when it is ready, as the services of
 * the gateway do. Rejects when it ends before that.
 */
export async function startServiceProcess(
  [main, ...args]: readonly [main: string, ...args: string[]],
  env: Environment = {},
): Promise<DecisionService> {
  const child = spawn(process.execPath, ['--max-semi-space-size=8', main, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const { promise: ready, resolve } = Promise.withResolvers<number>();
  let port = 0;
  child.on('message', message => {
    if (!isJsonObject(message)) return;
    if (typeof message.port === 'number') port = message.port;
    if (message.ready === true) resolve(port);
  });
  const ended = exited.then(([code]) => {
    throw new Error(`${main} ended with ${code} before it was ready`);
  });
  await Promise.race([ready, ended]);
  return { port, service: child.pid ?? 0, store: undefined, stop: () => endProcess(child) };
}
