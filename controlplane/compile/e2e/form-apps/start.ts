import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NEXTJS, PYTHON, SVELTEKIT } from './install.ts';

const NODE = process.execPath;
const PYTHON_APPS = join(import.meta.dirname, 'django-and-flask.py');

const APPS = {
  django: { command: ['python3', PYTHON_APPS, 'django'], env: { PYTHONPATH: PYTHON } },
  flask: { command: ['python3', PYTHON_APPS, 'flask'], env: { PYTHONPATH: PYTHON } },
  sveltekit: {
    command: [NODE, join(SVELTEKIT, 'build')],
    env: { HOST: '127.0.0.1', PORT: '0', PROTOCOL_HEADER: 'x-forwarded-proto' },
  },
  nextjs: {
    command: [NODE, join(NEXTJS, 'node_modules/next/dist/bin/next'), 'start', NEXTJS, '-p', '0'],
    env: { NEXT_TELEMETRY_DISABLED: '1', HOSTNAME: '127.0.0.1' },
  },
} as const;

export type Framework = keyof typeof APPS;
export type FormApp = { readonly address: string; stop(): Promise<void> };

/** Starts an application of the framework. Its form requires the origin of its own page. */
export async function startFormApp(framework: Framework): Promise<FormApp> {
  const { command, env } = APPS[framework];
  const [program, ...args] = command;
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.resume();
  const stop = async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  for await (const line of createInterface(child.stdout)) {
    const port = /http:\/\/[\w.]+:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    child.stdout.resume();
    return { address: `127.0.0.1:${port}`, stop };
  }
  throw new Error(`${framework} ended before it listened`);
}
