import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = join(import.meta.dirname, '..', '..', 'controlplane', 'main.ts');
const ANY_PORT = '127.0.0.1:0';

/**
 * Another address, because listeners are named by their address. Another gateway may use the
 * default port.
 */
const ANY_TLS_PORT = '127.0.0.2:0';

/** A control plane alone, on free ports. */
export type ControlPlaneProcess = {
  /** `host:port` where it serves xDS. */
  readonly xds: string;
  /** Base URL of its HTTP interface. */
  readonly http: string;
  readonly pid: number;
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
};

export type ControlPlaneOptions = {
  readonly resources: string;
  readonly state: string;
  /** Where the edge listens, `host:port`. */
  readonly edge: string;
  /** Where it listens for TLS. Default: a free port. */
  readonly edgeTls?: string;
  /** Further environment. */
  readonly env?: Readonly<Record<string, string>>;
};

/** Starts it and waits until it listens. */
export async function startControlPlane({
  edge,
  edgeTls = ANY_TLS_PORT,
  resources,
  state,
  env: more = {},
}: ControlPlaneOptions): Promise<ControlPlaneProcess> {
  const env = { RESOURCES: resources, STATE: state, EDGE_ADDRESS: edge, EDGE_TLS_ADDRESS: edgeTls };
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, ...env, XDS_ADDRESS: ANY_PORT, HTTP_ADDRESS: ANY_PORT, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  const stop = () => end('SIGTERM');
  const kill = () => end('SIGKILL');
  for await (const line of createInterface({ input: child.stdout })) {
    const { http, msg, xds } = JSON.parse(line) as {
      http?: { port: number };
      msg: string;
      xds?: number;
    };
    if (msg !== 'listening') continue;
    child.stdout.resume();
    const pid = child.pid ?? 0;
    return { xds: `127.0.0.1:${xds}`, http: `http://127.0.0.1:${http?.port}`, pid, stop, kill };
  }
  throw new Error('The control plane ended before it listened');
}
