import { readdirSync, readFileSync } from 'node:fs';

/** A process may start another one while those that were found are killed. */
const ROUNDS = 10;

/**
 * Kills every process whose temporary folder is this one, or below it, whatever its parent is now.
 * It does nothing where there is no /proc.
 */
export function endPrograms(folder: string): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = attempt(() => readdirSync('/proc'), []).filter(pid => isIn(folder, pid));
    if (found.length === 0) return;
    for (const pid of found) attempt(() => process.kill(Number(pid), 'SIGKILL'), false);
  }
}

/** A process that has ended, and waits for its parent to notice, has no variables any more. */
function isIn(folder: string, pid: string): boolean {
  if (!/^\d+$/.test(pid)) return false;
  const own = `TMPDIR=${folder}`;
  return attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8'), '')
    .split('\0')
    .some(variable => variable === own || variable.startsWith(`${own}/`));
}

/** Processes come and go, and some are not ours to look into. */
function attempt<T>(get: () => T, otherwise: T): T {
  try {
    return get();
  } catch {
    return otherwise;
  }
}
