import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Sees to it that no child outlives this process, also when it is killed outright and can stop
 * nothing any more.
 */
export type OrphanGuard = {
  /** The command to spawn instead of `argv`; the process keeps its id. */
  wrap(argv: readonly string[]): readonly string[];
  watch(pid: number): void;
  forget(pid: number): void;
  close(): void;
};

/**
 * The kernel's own guard where there is one (Linux with util-linux), else a small process that
 * waits for our end.
 */
export function orphanGuard(): OrphanGuard {
  return hasSetpriv() ? kernelGuard() : reaperGuard();
}

function hasSetpriv(): boolean {
  if (process.platform !== 'linux') return false;
  return spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0;
}

/**
 * The kernel tells of an end that comes after it was asked to: whoever is an orphan by then must
 * see it himself. Source: prctl(2), PR_SET_PDEATHSIG.
 */
const IF_PARENT_LIVES = 'test "$PPID" = "$0" && exec "$@"';

function kernelGuard(): OrphanGuard {
  return {
    wrap: argv => [
      'setpriv',
      '--pdeathsig',
      'KILL',
      'sh',
      '-c',
      IF_PARENT_LIVES,
      `${process.pid}`,
      ...argv,
    ],
    watch: () => {},
    forget: () => {},
    close: () => {},
  };
}

/** Exported for its test: other systems use it. */
export function reaperGuard(): OrphanGuard {
  const reaper: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'reaper.ts')], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  const tell = (line: string) => reaper.stdin?.write(`${line}\n`);
  return {
    wrap: argv => argv,
    watch: pid => tell(`+${pid}`),
    forget: pid => tell(`-${pid}`),
    close: () => reaper.stdin?.end(),
  };
}
