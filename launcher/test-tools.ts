import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that tests need and neither npm nor PyPI has. */
export type Tool = { readonly name: string; readonly command: string; readonly aptPackage: string };

export const TEST_TOOLS: readonly Tool[] = [
  { name: 'IPROUTE2', command: 'ip', aptPackage: 'iproute2' },
  { name: 'SETPRIV', command: 'setpriv', aptPackage: 'util-linux' },
  { name: 'PROCPS', command: 'ps', aptPackage: 'procps' },
];

/**
 * Installs what is missing through apt-get where that is allowed (root, or sudo without a password); `say` gets a line for it.
 * Returns why each tool that is still missing is, by name.
 */
export function ensureTestTools(say: (line: string) => void): ReadonlyMap<string, string> {
  const missing = TEST_TOOLS.filter(isMissing);
  if (missing.length === 0) return new Map();
  const failure = aptInstall(
    missing.map(tool => tool.aptPackage),
    say,
  );
  return new Map(
    missing
      .filter(isMissing)
      .map(({ aptPackage, command, name }) => [name, `no "${command}" (package ${aptPackage}): ${failure}`]),
  );
}

function isMissing({ command }: Tool): boolean {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return !folders.some(folder => isExecutable(join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns why it did not do what it should. */
function aptInstall(packages: readonly string[], say: (line: string) => void): string {
  if (!succeeds('apt-get', ['--version'])) return 'there is no apt-get';
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (sudo.length > 0 && !succeeds('sudo', ['-n', 'true']))
    return 'apt-get needs root, or sudo without a password';
  say(`installing ${packages.join(', ')} through apt-get ...`);
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const [file = '', ...rest] = [
      ...sudo,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-qq',
      ...args,
    ];
    if (!succeeds(file, rest)) return `apt-get ${args[0]} failed`;
  }
  return 'apt-get installed something else';
}

function succeeds(file: string, args: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}
