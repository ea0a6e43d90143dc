import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { until } from '#envoy/e2e/until.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');

/** A real discovery service of one test, as a process with its own instances file. */
export type SdsProcess = {
  readonly child: ChildProcess;
  readonly port: number;
  readonly url: string;
  /** What a process that takes its place has in its environment. */
  readonly place: Readonly<Record<'ADDRESS' | 'INSTANCES_FILE' | 'STATE', string>>;
  /** All that it has written to its standard output and error. */
  log(): string;
  /** Replaces the instances file as a careful operator does. */
  write(text: string): Promise<void>;
};

/**
 * Starts `sds/main.ts` on a free port with this instances file and more environment, and waits
 * until it listens. Undefined writes no file.
 */
export async function startSds(
  t: Pick<TestContext, 'after'>,
  text: string | undefined,
  env: Readonly<Record<string, string>> = {},
): Promise<SdsProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'sds-'));
  const file = join(folder, 'instances.yaml');
  const write = async (next: string) => {
    await writeFile(`${file}.tmp`, next);
    await rename(`${file}.tmp`, file);
  };
  if (text !== undefined) await write(text);
  const state = join(folder, 'state');
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      ADDRESS: '127.0.0.1:0',
      INSTANCES_FILE: file,
      STATE: state,
      LOG_LEVEL: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });
  const output: string[] = [];
  child.stdout?.on('data', chunk => output.push(String(chunk)));
  child.stderr?.on('data', chunk => output.push(String(chunk)));
  const log = () => output.join('');
  let ready: { port: number } | undefined;
  child.once('message', message => {
    ready = message as { port: number };
  });
  const { port } = await until(() => {
    if (child.exitCode !== null) throw new Error(`sds ended with ${child.exitCode}: ${log()}`);
    return ready;
  });
  const place = { ADDRESS: `127.0.0.1:${port}`, INSTANCES_FILE: file, STATE: state };
  return { child, port, url: `http://127.0.0.1:${port}`, place, log, write };
}
