import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export type ServiceAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
};

type RequestOptions = {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
};

/** One instance of the service, a real process on a port of its own. */
export type ServiceProcess = {
  readonly pid: number;
  readonly port: number;
  /** Sends a request with the path byte for byte as it is. */
  readonly send: (method: string, path: string, options?: RequestOptions) => Promise<ServiceAnswer>;
  /** Sends the same with a JSON body. */
  readonly sendJson: (method: string, path: string, body: unknown) => Promise<ServiceAnswer>;
  /** Returns all that it has printed so far. */
  readonly output: () => string;
  /** Sends SIGTERM and returns the exit code. */
  readonly stop: () => Promise<number | null>;
  /** Closes the IPC channel, as the death of a supervisor does, and returns the exit code. */
  readonly disconnect: () => Promise<number | null>;
};

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/**
 * Starts an instance and resolves when it is ready. Rejects with its output when it exits before.
 */
export async function startService(
  environment: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const { NODE_COMPILE_CACHE, PATH } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH, NODE_COMPILE_CACHE, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let printed = '';
  child.stdout?.on('data', chunk => (printed += chunk));
  child.stderr?.on('data', chunk => (printed += chunk));
  const exited: Promise<number | null> = once(child, 'exit').then(([code]) => code);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  void exited.then(() => process.off('exit', kill));

  const ready = once(child, 'message');
  const port = await Promise.race([ready.then(([message]) => parsePort(message)), exited]);
  if (port === null || child.exitCode !== null) throw new Error(printed);

  const send: ServiceProcess['send'] = (method, path, options) =>
    sendTo(port, method, path, options);
  return {
    pid: child.pid ?? 0,
    port,
    send,
    sendJson: (method, path, body) =>
      send(method, path, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    output: () => printed,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
    disconnect: () => {
      child.disconnect();
      return exited;
    },
  };
}

function parsePort(message: unknown): number {
  if (
    typeof message === 'object' &&
    message !== null &&
    'port' in message &&
    typeof message.port === 'number'
  ) {
    return message.port;
  }
  throw new Error(`not a ready message: ${JSON.stringify(message)}`);
}

async function sendTo(
  port: number,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<ServiceAnswer> {
  const { body } = options;
  const req = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: framed(options),
    agent: false,
  });
  const { promise, resolve, reject } = Promise.withResolvers<ServiceAnswer>();
  req.on('error', reject);
  req.on('response', async res => {
    const { statusCode: status = 0, headers } = res;
    const read = method === 'HEAD' ? Promise.resolve({}) : json(res);
    resolve({ status, headers, body: (await read) as Record<string, unknown> });
  });
  req.end(body);
  return promise;
}

/** Node's client frames no body of a GET by itself, and it would be taken for the next request. */
function framed({ headers = {}, body }: RequestOptions): Record<string, string> {
  if (body === undefined || 'transfer-encoding' in headers) return headers;
  return { 'content-length': String(Buffer.byteLength(body)), ...headers };
}
