import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const HERE = import.meta.dirname;
const TOOLS = join(HERE, '..', '..', '..', '..', '.gateway', 'tools');
const PYTHON_PACKAGES = ['django==5.2.8', 'flask==3.1.3', 'flask-wtf==1.2.2'] as const;

/** The folder of the Python packages. */
export const PYTHON = join(TOOLS, PYTHON_PACKAGES.join('+').replaceAll('==', '-'));
/** The folders of the two built applications. */
export const SVELTEKIT = builtFolder('sveltekit');
export const NEXTJS = builtFolder('nextjs');

/**
 * Installs the frameworks and builds their applications, once for a checkout. Where CI is set a
 * failure is an error, since what cannot run there would never run.
 * @returns why it failed, or false
 */
export async function whyNoFrameworks(): Promise<string | false> {
  try {
    await Promise.all([
      makeOnce(PYTHON, pipInstall),
      makeOnce(SVELTEKIT, folder => build('sveltekit', folder)),
      makeOnce(NEXTJS, folder => build('nextjs', folder)),
    ]);
    return false;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    return 'pip or npm cannot install Django, Flask, SvelteKit and Next.js';
  }
}

/** Makes a folder under another name first, so that it is complete at any time. */
async function makeOnce(target: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  mkdirSync(TOOLS, { recursive: true });
  const folder = mkdtempSync(join(TOOLS, '.installing-'));
  try {
    await make(folder);
    if (!existsSync(target)) renameSync(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pipInstall(folder: string): Promise<void> {
  const options = ['--quiet', '--only-binary', ':all:', '--no-input', '--target', folder];
  await run('python3', ['-m', 'pip', 'install', ...options, ...PYTHON_PACKAGES], {
    env: { ...process.env, PIP_USER: '0' },
  });
}

async function build(name: string, folder: string): Promise<void> {
  cpSync(join(HERE, name), folder, { recursive: true });
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await run('npm', install, { cwd: folder, env });
  await run('npm', ['run', 'build'], { cwd: folder, env });
}

/** Returns a different name for each state of the sources, so that an edit builds again. */
function builtFolder(name: string): string {
  const hash = createHash('sha256');
  for (const file of globSync('**/*.*', { cwd: join(HERE, name) }).sort())
    hash.update(`${file}\n`).update(readFileSync(join(HERE, name, file)));
  return join(TOOLS, `${name}-${hash.digest('hex').slice(0, 12)}`);
}
