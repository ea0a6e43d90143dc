import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';

/**
 * The version whose state this one must take over, and which must take it back. It is the release
 * before this one. Until there is a release it is a commit from before session lists, ACME, the
 * package and the decision cache.
 */
const OLDER = '70edb53cf31fdabcc1b7d71fd64b4fcf85f5dc87';

/** Until there is a release, the oldest commit with a Helm chart. It has ACME and the package. */
export const OLDER_WITH_CHART = '5a8e9f66ae0225c0a329facd25af55ff009d2c4b';

const ROOT = join(import.meta.dirname, '..', '..');
const LARGEST = 2 ** 27;

/**
 * Returns a checkout of an older version with its own packages. It is made once and stays in
 * `.gateway/`. A shallow clone asks its origin for that one commit. Where that fails, this checkout
 * is returned, and a line says so: it shows no upgrade then, but that state outlives a restart.
 */
export async function olderVersion(commit = OLDER): Promise<string> {
  const folder = join(ROOT, '.gateway', `older-${commit.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  if (!hasCommit(commit)) git('fetch', '--quiet', '--depth=1', 'origin', commit);
  if (!hasCommit(commit)) {
    console.error(`No commit ${commit} here, so this version takes the place of the older one.`);
    return ROOT;
  }
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}.`);
  // Pods of other users read it.
  chmodSync(draft, 0o755);
  const input = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: LARGEST });
  execFileSync('tar', ['-x', '-C', draft], { input });
  if (readLock(draft) === readLock(ROOT))
    execFileSync('cp', ['-al', join(ROOT, 'node_modules'), draft]);
  const env = {
    ...process.env,
    ENVOY_BIN: await envoyBinary(),
    npm_config_prefer_offline: 'true',
  };
  const node = (...args: readonly string[]) =>
    execFileSync(process.execPath, args, { cwd: draft, env });
  node('launcher/start.cjs', '--version');
  node('launcher/make-envoy-api.ts', env.ENVOY_BIN);
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another test file was quicker.
    rmSync(draft, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function readLock(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8');
}

function hasCommit(commit: string): boolean {
  return git('cat-file', '-e', `${commit}^{commit}`) === 0;
}

function git(...args: readonly string[]): number | null {
  return spawnSync('git', args, { cwd: ROOT, stdio: 'ignore' }).status;
}
