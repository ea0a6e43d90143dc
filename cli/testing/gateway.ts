import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const MAIN = join(import.meta.dirname, '..', 'main.ts');

export type CommandResult = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs `gateway <args>` and returns its output and exit code. */
export function gateway(...args: readonly string[]): Promise<CommandResult> {
  return gatewayWith({}, ...args);
}

/** Runs it with these variables beside those of the environment. */
export function gatewayWith(
  variables: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<CommandResult> {
  const options = { maxBuffer: 2 ** 26, env: { ...process.env, ...variables } };
  return new Promise(resolve => {
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Creates a folder with these files until the test ends. */
export async function folderOf(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-cli-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}
