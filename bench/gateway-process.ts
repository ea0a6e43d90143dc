import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bootstrap } from '#envoy/bootstrap.ts';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { endProcess } from './end-process.ts';

const MAIN = join(import.meta.dirname, '..', 'controlplane', 'main.ts');
const ANY_PORT = '127.0.0.1:0';
const LONGEST_START_MS = 600_000;

/** A control plane and one edge Envoy, each a process of its own. */
export type GatewayProcess = {
  /** `host:port` of the edge. */
  readonly edge: string;
  /** `host:port` of the control plane's pages. */
  readonly http: string;
  /** Folder of the resources. */
  readonly resources: string;
  /** Replaces the file of resources in one step. */
  write(text: string): void;
  /** Process ids. */
  readonly controlPlane: number;
  readonly envoy: number;
  stop(): Promise<void>;
};

export type GatewayProcessOptions = {
  /** Whether the Envoy pushes figures. Default: it does. */
  readonly figures?: boolean;
  /** Replaces the values in Envoy's runtime. */
  readonly runtime?: Readonly<Record<string, number>>;
};

/**
 * Starts both on these resources. NODE_OPTIONS of the environment, for example `--cpu-prof`, apply
 * to the control plane too.
 */
export async function startGatewayProcess(
  text: string,
  { figures = true, runtime = {} }: GatewayProcessOptions = {},
): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const resources = join(folder, 'resources');
  mkdirSync(resources);
  const write = (content: string) => writeWhole(join(resources, 'mappings.yaml'), content);
  write(text);
  const { child, http, xdsPort } = await startControlPlane(resources, join(folder, 'state'), {
    FIGURES: figures ? 'on' : 'off',
  });
  const xdsAddress = `127.0.0.1:${xdsPort}`;
  const addresses = { xdsAddress, sdsAddress: xdsAddress };
  const json = bootstrap({ nodeId: 'edge-1', group: 'edge', ...addresses, figures });
  const layers = [{ name: 'static', static_layer: runtime }];
  const envoy = await startEnvoy(
    Object.keys(runtime).length === 0 ? json : { ...json, layered_runtime: { layers } },
  );
  const stop = async () => {
    await envoy.stop();
    await endProcess(child);
    rmSync(folder, { recursive: true });
  };
  const port = await listenerPort(envoy).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    edge: `127.0.0.1:${port}`,
    ...{ http, resources, write },
    controlPlane: child.pid ?? 0,
    envoy: envoy.pid,
    stop,
  };
}

/** Waits, because many Mappings and clusters take some seconds, or minutes on busy cores. */
function listenerPort(envoy: EnvoyProcess): Promise<number> {
  return until(
    () => envoy.listenerPort(ANY_PORT).catch(() => undefined),
    LONGEST_START_MS,
    'a listener',
  );
}

/** Starts a control plane in a process of its own. `flags` are options of Node. */
export async function startControlPlane(
  resources: string,
  state: string,
  variables: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<{ child: ChildProcess; http: string; xdsPort: number }> {
  const addresses = { XDS_ADDRESS: ANY_PORT, HTTP_ADDRESS: ANY_PORT, EDGE_ADDRESS: ANY_PORT };
  const child = spawn(process.execPath, ['--max-semi-space-size=4', ...flags, MAIN], {
    env: { ...process.env, RESOURCES: resources, STATE: state, ...addresses, ...variables },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const { stdout } = child;
  if (stdout === null) throw new Error('The control plane has no output');
  for await (const line of createInterface({ input: stdout })) {
    const { http, msg, xds } = JSON.parse(line);
    if (msg !== 'listening') continue;
    stdout.resume();
    return { child, http: `127.0.0.1:${http.port}`, xdsPort: xds };
  }
  throw new Error('The control plane ended before it listened');
}
