import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A test, or a suite. */
type Ending = { after(run: () => void): void };

/** Runs openssl in a folder of the test. */
export function openssl(t: Ending) {
  const folder = mkdtempSync(join(tmpdir(), 'openssl-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    /** Returns standard output. Throws when the exit code is not 0. */
    run: (...args: readonly string[]) =>
      execFileSync('openssl', args, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
  };
}

/** A certificate that openssl signs for its own key, and that key, PEM. */
export function selfSigned(
  t: Ending,
  ...args: readonly string[]
): { certificate: string; key: string } {
  const { run, read } = openssl(t);
  run(
    'req',
    '-x509',
    '-nodes',
    '-keyout',
    'key',
    '-out',
    'crt',
    '-subj',
    '/CN=test',
    '-days',
    '2',
    ...args,
  );
  return { certificate: read('crt'), key: read('key') };
}
