import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Builds the program of a Go package (`module/path@version`) into the file `target`. Returns why it did not; '' when it did. */
export function goInstall(goPackage: string, target: string, say: (line: string) => void): string {
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) return 'there is no Go to build it';
  say(`building ${goPackage} ...`);
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), '.building-'));
  try {
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath' };
    const { status, stderr } = spawnSync('go', ['install', goPackage], { env, encoding: 'utf8' });
    const [built] = readdirSync(folder);
    if (status !== 0 || built === undefined) return `go install failed: ${stderr.trim().split('\n').at(-1)}`;
    renameSync(join(folder, built), target);
    return '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
