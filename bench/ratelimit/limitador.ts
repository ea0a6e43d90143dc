import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { until } from '#envoy/e2e/until.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { TOOLS } from '#launcher/test-tools.ts';
import { endProcess } from '../end-process.ts';
import type { DecisionService } from '../service-process.ts';
import { say } from '../short-run.ts';

const SOURCES = join(import.meta.dirname, 'limitador');
const BUILT = join(TOOLS, 'limitador');
const LONGEST_START_MS = 10_000;

/**
 * Builds Limitador's library, behind a server of ours (`limitador/`), with Rust, outside the tree
 * of sources.
 * @returns why it failed, or '' when it succeeded
 */
export function buildLimitador(): string {
  if (spawnSync('cargo', ['--version']).status !== 0) return 'there is no Rust to build it';
  say('building Limitador, which may take minutes ...');
  cpSync(SOURCES, BUILT, { recursive: true, preserveTimestamps: true });
  const args = ['build', '--release', '--quiet'];
  const { status, stderr } = spawnSync('cargo', args, { cwd: BUILT, encoding: 'utf8' });
  return status === 0 ? '' : `cargo failed: ${stderr.trim().split('\n').at(-1)}`;
}

/** Starts it, with counters in memory. */
export async function startLimitador(): Promise<DecisionService> {
  const port = await freePort();
  const child = spawn(join(BUILT, 'target', 'release', 'gateway-bench-limitador'), [`${port}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await until(() => listens(port), LONGEST_START_MS, 'Limitador');
  return { port, service: child.pid ?? 0, store: undefined, stop: () => endProcess(child) };
}

async function listens(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1');
  const answers = await once(socket, 'connect').then(
    () => true as const,
    () => undefined,
  );
  socket.destroy();
  return answers;
}
