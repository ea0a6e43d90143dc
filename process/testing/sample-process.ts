import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = join(import.meta.dirname, 'sample-service.ts');

export type Who = { readonly number: number; readonly pid: number; readonly late: boolean };

type LogLine = {
  readonly msg: string;
  readonly worker?: number;
  readonly signal?: string;
  readonly againInMs?: number;
};

/** How a process has ended. */
type End = { readonly code: number | null; readonly signal: string | null };

/** A sample service as a child. */
export type Sample = {
  readonly pid: number;
  /** What it has logged so far. */
  readonly lines: readonly LogLine[];
  /** All of its standard error, when no process can write there any more. */
  readonly complaint: Promise<string>;
  readonly end: Promise<End>;
  signal(name: NodeJS.Signals): void;
  /** Cuts its IPC channel, as the end of the process that started it does. */
  leave(): void;
  /** Resolves when it says that it is ready. Rejects when it ends instead. */
  ready(): Promise<void>;
  /** Sends a request over a connection of its own. */
  get(path: string): Promise<{ readonly status: number | undefined; readonly body: string }>;
  who(): Promise<Who>;
  /**
   * Sends a request that takes so long, and resolves when it has begun. Says at which process it
   * is, and how it ends.
   */
  late(ms: number): Promise<{ readonly pid: number; readonly end: Promise<'answered' | 'cut'> }>;
};

export function startSample(environment: Readonly<Record<string, string>>): Sample {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { pid, stderr, stdout } = child;
  assert.ok(pid !== undefined && stdout !== null && stderr !== null);
  const lines: LogLine[] = [];
  createInterface({ input: stdout }).on('line', line => lines.push(JSON.parse(line)));
  const complaint = stderr.toArray().then(chunks => chunks.join(''));
  const end = once(child, 'exit').then(([code, signal]): End => ({ code, signal }));
  const messages = {
    listening: Promise.withResolvers<number>(),
    ready: Promise.withResolvers<void>(),
  };
  child.on('message', (message: { listening?: true; port: number }) => {
    if (message.listening) messages.listening.resolve(message.port);
    else messages.ready.resolve();
  });
  void complaint.then(said => messages.ready.reject(new Error(`it ended: ${said}`)));
  messages.ready.promise.catch(() => {});
  const get = async (path: string) => ask(await messages.listening.promise, path);
  return {
    ...{ pid, lines, complaint, end, get },
    signal: name => void child.kill(name),
    leave: () => child.disconnect(),
    ready: () => messages.ready.promise,
    who: async () => JSON.parse((await get('/who')).body),
    late: async ms => {
      const response = await begin(await messages.listening.promise, `/late?ms=${ms}`);
      const end = response
        .toArray()
        .then(chunks => (chunks.join('') === 'late' ? 'answered' : 'cut'));
      return { pid: Number(response.headers['x-pid']), end: end.catch(() => 'cut' as const) };
    },
  };
}

async function begin(port: number, path: string): Promise<http.IncomingMessage> {
  const request = http.get({ host: '127.0.0.1', port, path, agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return response;
}

async function ask(port: number, path: string) {
  const response = await begin(port, path);
  const body = (await response.toArray()).join('');
  return { status: response.statusCode, body };
}
