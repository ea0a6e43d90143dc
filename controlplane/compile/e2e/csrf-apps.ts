import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PACKAGES = ['django==5.2.8', 'flask==3.1.3', 'flask-wtf==1.2.2'] as const;
const TOOLS = join(import.meta.dirname, '..', '..', '..', '.gateway', 'tools');
const FOLDER = join(TOOLS, PACKAGES.join('+').replaceAll('==', '-'));

/**
 * Installs the frameworks from PyPI, once for a checkout. Returns why it could not. Where CI is set
 * that is an error: what cannot run there would never run.
 */
export async function whyNoFrameworks(): Promise<string | false> {
  if (existsSync(FOLDER)) return false;
  mkdirSync(dirname(FOLDER), { recursive: true });
  const folder = mkdtempSync(join(dirname(FOLDER), '.installing-'));
  const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', '--no-input'];
  try {
    await run('python3', [...pip, '--target', folder, ...PACKAGES], {
      env: { ...process.env, PIP_USER: '0' },
    });
    if (!existsSync(FOLDER)) renameSync(folder, FOLDER);
    return false;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    return 'pip cannot install Django and Flask from PyPI';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type CsrfApp = { readonly address: string; stop(): Promise<void> };

/** Starts an application of the framework, whose form wants a token and the origin of its own page. */
export async function startCsrfApp(framework: 'django' | 'flask'): Promise<CsrfApp> {
  const child: ChildProcess = spawn('python3', [join(import.meta.dirname, 'csrf-apps.py'), framework], {
    env: { ...process.env, PYTHONPATH: FOLDER },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { stdout } = child;
  if (stdout === null) throw new Error('no output');
  const lines = createInterface(stdout);
  const [port] = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [undefined])]);
  if (port === undefined) throw new Error(`${framework} ended before it listened`);
  return {
    address: `127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
