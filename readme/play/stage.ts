import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { claimPortOffset } from '#envoy/e2e/port-offset.ts';
import { instancePorts, portsAt } from '#launcher/ports.ts';
import { writeShims } from './shims.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The ports that pages give to the reader's own programs, in place of those of the gateway. */
const OWN_PORTS = [9000, 9001, 9002, 9003, 9004, 9005, 9100];

/** What was started and goes on, with all that it said so far. */
export type Running = { said(): string; stop(): Promise<void> };

/**
 * A folder in which the commands of a page run as they stand, beside other systems of this machine.
 */
export type Stage = {
  /** The text with the ports of the page replaced by those of this stage. */
  here(text: string): string;
  /** Writes a file whose path is relative to the folder. */
  write(file: string, text: string): void;
  remove(file: string): void;
  /**
   * Runs commands of a shell, and resolves with what they print to stdout. Rejects when the last
   * one fails.
   */
  run(code: string): Promise<string>;
  /** Starts a command that goes on. A gateway takes the place of the one before. */
  start(code: string): Promise<Running>;
  /** Stops what was started, the last one first, and removes the folder. */
  close(): Promise<void>;
};

/**
 * Makes a folder that looks like this checkout, where `npm` and `npx` use ports and state of their
 * own.
 */
export async function openStage(): Promise<Stage> {
  const port = await claimPortOffset();
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  for (const name of readdirSync(ROOT).filter(name => !OWN_FOLDERS.includes(name)))
    symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, '.gateway'));
  mkdirSync(join(folder, 'bin'));
  writeShims(join(folder, 'bin'), port.offset);
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  const ports = portMap(port.offset);
  const here = (text: string) => text.replace(ANY_PORT, found => ports.get(found) ?? found);
  const running: Running[] = [];
  let gateway: Running | undefined;
  return {
    here,
    write: (file, text) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), here(text));
    },
    remove: file => rmSync(join(folder, file), { recursive: true, force: true }),
    run: async code => {
      const shell = ['-c', `set -o pipefail\n${here(code)}`];
      return (await promisify(execFile)('bash', shell, { cwd: folder, env, timeout: 60_000 }))
        .stdout;
    },
    start: async code => {
      const isGateway = code.startsWith('npm start');
      if (isGateway) await gateway?.stop();
      const started = follow(spawn('bash', ['-c', `exec ${here(code)}`], { cwd: folder, env }));
      if (isGateway) gateway = started;
      running.push(started);
      return started;
    },
    close: async () => {
      for (const each of running.reverse()) await each.stop();
      port.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a reader has beside the checkout, or a gateway that runs in it. */
const OWN_FOLDERS = ['.gateway', '.git', 'my-site', 'bin'];

const ANY_PORT = /(?<![\w.-])\d{4,5}(?![\w.-])/g;

function portMap(offset: number): ReadonlyMap<string, string> {
  const moved = portsAt(offset);
  const gateway = Object.entries(portsAt(0)).map(([name, from]) => [
    from,
    moved[name as keyof typeof moved],
  ]);
  const free = OWN_PORTS.map((from, index) => [from, instancePorts(offset, 41 + index).service]);
  return new Map([...gateway, ...free].map(([from, to]) => [String(from), String(to)]));
}

function follow(child: ChildProcess): Running {
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => output.push(String(chunk)));
  const exited = once(child, 'exit');
  return {
    said: () => output.join(''),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
