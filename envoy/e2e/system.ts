import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Status } from '#controlplane/status/status.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { DEMO } from '#launcher/demo-resources.ts';
import { instancePorts, type Ports, portsAt } from '#launcher/ports.ts';
import {
  assertNothingLeft,
  type Gateway,
  pidsOf,
  startGateway,
} from '#launcher/testing/gateway.ts';
import { claimPortOffset, type PortOffset } from './port-offset.ts';
import { getJson } from './request.ts';
import { statusWhen } from './status-when.ts';

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, '..', '..');

/** The part of the demo that is open to all. */
const OPEN = 'user-service.yaml';

export type SystemOptions = {
  /** Default: one, or none where the resources do not name the user service. */
  readonly instances?: number;
  /**
   * Text of the resources by file name. Default: the demo's user-service.yaml alone, without the
   * limits and logins that load would meet.
   */
  readonly resources?: Readonly<Record<string, string>>;
  /** Starts all of the demo instead, with its identity provider. */
  readonly demo?: boolean;
  /** Where it keeps its state. Default: a folder that is removed when it stops. */
  readonly state?: string;
  /** Variables for all of its processes, added to those of the test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: an offset that nobody else uses. */
  readonly port?: PortOffset;
};

/** A whole gateway with its own ports, state and resources. */
export type System = {
  readonly gateway: Gateway;
  readonly ports: Ports;
  /** Base URL of the edge. */
  readonly edge: string;
  readonly state: string;
  /** The folder of its resources. */
  readonly resources: string;
  /** Returns one of 18 ports that nothing else of this system or of another uses. */
  freePort(number: number): number;
  /** Returns the status of the control plane. */
  status(): Promise<Status>;
  /** Waits until the control plane's status is as wanted. */
  statusWhen(wanted: (status: Status) => boolean, withinMs?: number): Promise<Status>;
  /**
   * Returns the process id of one part, such as `edge` or `user-service-1-proxy`, or undefined when
   * it does not run.
   */
  pid(part: string): Promise<number | undefined>;
  /** Kills a part outright. Resolves with the pid that it had. */
  kill(part: string): Promise<number>;
  /**
   * Kills a part outright, and runs this before the part is started again, however long that takes.
   * Its supervisor is stopped meanwhile.
   */
  whileAway<T>(part: string, run: () => Promise<T>): Promise<T>;
  /** Runs `gateway <args>`. Returns its exit code and all that it printed. */
  command(...args: readonly string[]): Promise<{ code: number; said: string }>;
  /** Writes a file of the resources in one step. */
  write(file: string, text: string): void;
  /** Sends SIGTERM. Fails unless it exits with 0 and leaves no process and no port in use. */
  stop(): Promise<void>;
};

/** Starts everything and waits until it says that it is ready. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const port = options.port ?? (await claimPortOffset());
  const folder = mkdtempSync(join(tmpdir(), 'e2e-'));
  const state = options.state ?? join(folder, 'state');
  const resources = options.demo ? join(state, 'demo') : join(folder, 'resources');
  if (!options.demo) writeResources(resources, options);
  const gateway = await startGateway({
    args: [
      ...['--instances', String(options.instances ?? neededInstances(options))],
      ...(options.demo ? [] : ['--resources', resources]),
    ],
    portOffset: port.offset,
    state,
    environment: options.environment ?? {},
  });
  await gateway.ready().catch(async (error: unknown) => {
    await gateway.remove();
    throw error;
  });
  return systemOf(gateway, resources, async () => {
    const pids = await pidsOf(gateway);
    gateway.process.kill('SIGTERM');
    const code = await gateway.exited;
    if (options.port === undefined) port.release();
    rmSync(folder, { recursive: true, force: true });
    assert.equal(code, 0, gateway.said());
    await assertNothingLeft(pids, gateway.portOffset);
  });
}

function systemOf(gateway: Gateway, resources: string, stop: () => Promise<void>): System {
  const ports = portsAt(gateway.portOffset);
  const controlPlane = `http://127.0.0.1:${ports.http}`;
  const status = () => getJson<Status>(controlPlane, '/status');
  const pid = async (part: string) => {
    const { processes } = await gateway.status();
    return processes.find(({ name }) => name === part)?.pid;
  };
  const pidToKill = async (part: string) => {
    const found = await pid(part);
    assert.ok(found !== undefined, `${part} does not run`);
    return found;
  };
  return {
    gateway,
    ports,
    edge: `http://127.0.0.1:${ports.edge}`,
    state: gateway.state,
    resources,
    freePort: number =>
      instancePorts(gateway.portOffset, 41 + Math.floor(number / 2)).proxy + (number % 2),
    status,
    statusWhen: (wanted, withinMs) => statusWhen(status, wanted, withinMs),
    pid,
    kill: async part => {
      const found = await pidToKill(part);
      process.kill(found, 'SIGKILL');
      return found;
    },
    whileAway: async (part, run) => {
      const found = await pidToKill(part);
      const { pid: supervisor } = await gateway.status();
      process.kill(supervisor, 'SIGSTOP');
      try {
        process.kill(found, 'SIGKILL');
        return await run();
      } finally {
        process.kill(supervisor, 'SIGCONT');
      }
    },
    command: (...args) => command(args),
    write: (file, text) => writeWhole(join(resources, file), text),
    stop,
  };
}

function neededInstances({ resources }: SystemOptions): number {
  const texts = Object.values(resources ?? {});
  return resources === undefined || texts.some(text => text.includes('user-service')) ? 1 : 0;
}

function writeResources(folder: string, { resources: files }: SystemOptions): void {
  mkdirSync(folder, { recursive: true });
  if (files === undefined) cpSync(join(DEMO, OPEN), join(folder, OPEN));
  for (const [file, text] of Object.entries(files ?? {})) writeFileSync(join(folder, file), text);
}

/** Skips start.cjs, since the dependencies of this checkout are there. */
async function command(args: readonly string[]): Promise<{ code: number; said: string }> {
  try {
    const { stdout, stderr } = await run(process.execPath, [join(ROOT, 'cli', 'main.ts'), ...args]);
    return { code: 0, said: stdout + stderr };
  } catch (error) {
    const { code, stderr, stdout } = error as { code: number; stderr: string; stdout: string };
    return { code, said: stdout + stderr };
  }
}

/** Returns what `gateway bootstrap` prints for one more Envoy of this node group. */
export async function bootstrapOf(
  { command, ports }: System,
  group: string,
  ...args: readonly string[]
): Promise<object> {
  const addresses = ['--xds', `127.0.0.1:${ports.xds}`, '--sds', `127.0.0.1:${ports.sds}`];
  const { code, said } = await command('bootstrap', group, '--json', ...addresses, ...args);
  assert.equal(code, 0, said);
  return JSON.parse(said) as object;
}
