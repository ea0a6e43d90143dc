import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

type Say = (line: string) => void;

/**
 * Builds the program of a Go package (`module/path@version`) into the file `target`.
 * @returns why it failed, or '' when it succeeded
 */
export function goInstall(goPackage: string, target: string, say: Say): string {
  return build(goPackage, target, say, folder => {
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath' };
    return spawnSync('go', ['install', goPackage], { env, encoding: 'utf8' });
  });
}

/**
 * Builds a package of a module (`path@version`) into the file `target`, as seen from that module.
 * `go install` does not do it where the module's go.mod excludes versions of others.
 * @returns why it failed, or '' when it succeeded
 */
export function goBuildIn(module: string, goPackage: string, target: string, say: Say): string {
  const what = `${goPackage} of ${module}, which may take minutes,`;
  return build(what, target, say, folder => {
    const got = spawnSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' });
    if (got.status !== 0) return got;
    const { Dir } = JSON.parse(got.stdout) as { readonly Dir: string };
    return compile(Dir, goPackage, folder, BUILD);
  });
}

/** What makes a program of a package, or of its tests. */
export const BUILD = ['build'];
export const BUILD_TESTS = ['test', '-c'];

/**
 * Builds a package into the file `target`, as seen from the Go module in the folder `module`. Notes
 * beside it from which sources it is built.
 * @returns why it failed, or '' when it succeeded
 */
export function goBuild(
  module: string,
  goPackage: string,
  target: string,
  say: Say,
  command = BUILD,
): string {
  const what = `${goPackage} of ${module}, which may take minutes,`;
  const failure = build(what, target, say, folder => compile(module, goPackage, folder, command));
  if (failure === '') writeFileSync(noteOf(target), fingerprint(module));
  return failure;
}

function compile(cwd: string, goPackage: string, folder: string, command: readonly string[]) {
  const args = [...command, '-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags=-s -w'];
  // A module may need a newer Go than the one here, which then fetches it as a module.
  const env = { ...process.env, GOTOOLCHAIN: 'auto' };
  const options = { cwd, env, encoding: 'utf8' as const };
  return spawnSync('go', [...args, '-o', `${folder}/`, goPackage], options);
}

/** Tells whether `goBuild` made `target` from the present sources. */
export function isBuiltFrom(module: string, target: string): boolean {
  const note = noteOf(target);
  return (
    existsSync(target) && existsSync(note) && readFileSync(note, 'utf8') === fingerprint(module)
  );
}

function build(
  what: string,
  target: string,
  say: Say,
  run: (folder: string) => { readonly status: number | null; readonly stderr: string },
): string {
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0)
    return 'there is no Go to build it';
  say(`building ${what} ...`);
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), '.building-'));
  try {
    const { status, stderr } = run(folder);
    const [built] = readdirSync(folder);
    if (status !== 0 || built === undefined)
      return `go failed: ${stderr.trim().split('\n').at(-1)}`;
    renameSync(join(folder, built), target);
    return '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function noteOf(target: string): string {
  return `${target}.sources`;
}

function fingerprint(module: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(module).sort()) {
    if (/\.go$|^go\.(mod|sum)$/.test(name))
      hash.update(`${name}\0`).update(readFileSync(join(module, name)));
  }
  return hash.digest('hex');
}
