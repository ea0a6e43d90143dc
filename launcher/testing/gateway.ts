import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimPortOffset, type PortOffsets } from '#envoy/e2e/port-offset.ts';
import { eventually } from '../eventually.ts';
import { httpRequest } from '../http-request.ts';
import { checkPorts } from '../port-check.ts';
import { portsAt } from '../ports.ts';
import { controlSocket } from '../state-folder.ts';
import { wantedPorts } from '../wanted-ports.ts';
import { isAlive } from './is-alive.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export type Status = {
  readonly pid: number;
  readonly processes: readonly { name: string; phase: string; pid?: number; restarts: number }[];
};

/** A gateway that was started as an operator does it, with its own ports and state. */
export type Gateway = {
  /** The process that was started: npm or start.cjs. */
  readonly process: ChildProcess;
  readonly state: string;
  readonly portOffset: number;
  /** `host:port` of the edge. */
  readonly edge: string;
  /** Returns all that it has printed so far. */
  said(): string;
  ready(): Promise<void>;
  status(): Promise<Status>;
  /** Resolves with the exit code. */
  exited: Promise<number | null>;
  /** Stops it by any means that is left, and removes its state. */
  remove(): Promise<void>;
};

/** The command of a package that was installed into a folder. */
export type Installed = { readonly command: readonly string[]; readonly cwd: string };

export type GatewayOptions = {
  readonly by?: 'npm' | 'start.cjs' | Installed;
  readonly args?: readonly string[];
  readonly state?: string;
  readonly portOffset?: number;
  /** Added to the environment of the test. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** Systems that are started in another way use other offsets. */
const OFFSETS: PortOffsets = { first: 2_000, last: 5_900 };

/** Returns an offset at which all ports are free, for this test file alone until it ends. */
async function freePortOffset(): Promise<number> {
  return (await claimPortOffset(OFFSETS)).offset;
}

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { by = 'start.cjs', args = [] } = options;
  const portOffset = options.portOffset ?? (await freePortOffset());
  const state = options.state ?? mkdtempSync(join(tmpdir(), 'gw-state-'));
  const flags = ['--state', state, '--port-offset', String(portOffset), ...args];
  const [file = '', ...rest] = [...commandOf(by), ...flags];
  const child = spawn(file, rest, {
    cwd: typeof by === 'string' ? ROOT : by.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => output.push(String(chunk)));
  const said = () => output.join('');
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const remove = async () => {
    child.kill('SIGTERM');
    await exited;
    rmSync(state, { recursive: true, force: true, maxRetries: 10 });
  };
  return {
    process: child,
    state,
    portOffset,
    edge: `127.0.0.1:${portsAt(portOffset).edge}`,
    said,
    ready: () => becomesReady(child, said),
    status: () => statusOf(state),
    exited,
    remove,
  };
}

function commandOf(by: GatewayOptions['by'] & {}): readonly string[] {
  if (by === 'npm') return ['npm', 'start', '--'];
  if (by === 'start.cjs') return [process.execPath, 'launcher/start.cjs', 'up'];
  return [...by.command, 'up'];
}

async function becomesReady(child: ChildProcess, said: () => string): Promise<void> {
  await until(() => said().includes('ready after') || child.exitCode !== null, said, 90_000);
  assert.equal(child.exitCode, null, `it ended with this output:\n${said()}`);
}

/** Returns the ids of all processes of a gateway. */
export async function pidsOf(gateway: Gateway): Promise<readonly number[]> {
  const { pid, processes } = await gateway.status();
  return [gateway.process.pid, pid, ...processes.map(child => child.pid)].filter(
    pid => pid !== undefined,
  );
}

/** Fails unless within 30 s all the processes are gone and all ports are free. */
export async function assertNothingLeft(
  pids: readonly number[],
  portOffset: number,
): Promise<void> {
  const alive = () => pids.filter(isAlive);
  const gone = await eventually(async () => alive().length === 0, 30_000);
  assert.ok(gone, `still there: ${alive().join(', ')}`);
  await checkPorts(wantedPorts(portOffset, 6, true));
}

/** Waits for a condition. The output so far is part of the failure. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  said: () => string,
  ms = 30_000,
): Promise<void> {
  assert.ok(
    await eventually(async () => condition(), ms),
    `not within ${ms} ms with this output:\n${said()}`,
  );
}

async function statusOf(state: string): Promise<Status> {
  const { body } = await httpRequest({ address: `unix:${controlSocket(state)}`, path: '/status' });
  return JSON.parse(body);
}
