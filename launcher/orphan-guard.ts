import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Ends every child with this process, also when this process is killed outright and cannot stop
 * them.
 */
export type OrphanGuard = {
  /** Returns the command to spawn instead of `argv`. The process keeps its id. */
  wrap(argv: readonly string[]): readonly string[];
  watch(pid: number): void;
  forget(pid: number): void;
  close(): void;
};

/**
 * Returns the kernel's own guard where there is one (Linux with util-linux), else a small process
 * that waits for our end.
 */
export function orphanGuard(): OrphanGuard {
  return hasSetpriv() ? kernelGuard() : reaperGuard();
}

function hasSetpriv(): boolean {
  if (process.platform !== 'linux') return false;
  return spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0;
}

/**
 * The kernel reports only an end after the guard was set. A child that is an orphan already must
 * find that out itself. Source: prctl(2), PR_SET_PDEATHSIG.
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

/** Exported for its test. Other systems use it. */
export function reaperGuard(): OrphanGuard {
  const reaper: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(import.meta.resolve('#launcher/reaper.ts'))],
    {
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true,
    },
  );
  const tell = (line: string) => reaper.stdin?.write(`${line}\n`);
  return {
    wrap: argv => argv,
    watch: pid => tell(`+${pid}`),
    forget: pid => tell(`-${pid}`),
    close: () => reaper.stdin?.end(),
  };
}
