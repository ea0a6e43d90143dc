import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { COMMANDS } from '../commands.ts';
import { type CommandResult, folderOf, gateway } from '../testing/gateway.ts';

const run = promisify(execFile);

/** Prints, for a line that ends where the cursor stands, what the shell offers. */
const ASK: Readonly<Record<string, (script: string, line: string) => readonly string[]>> = {
  bash: (script, line) => [
    '-c',
    `source ${script}; COMP_WORDS=(${line.replace(/=/g, ' = ')}); [[ "$1" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _gateway; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    line,
  ],
  fish: (script, line) => ['--no-config', '-c', `source ${script}; complete -C '${line}'`],
  zsh: (script, line) => ['-f', '-c', ZSH, 'zsh', script, line],
};

/** Types the line and a tab in a zsh of its own, and prints each candidate that it gets. */
const ZSH = `
zmodload zsh/zpty
zpty z zsh -f -i
say() { zpty -w z "$1"; }
say 'PROMPT=; autoload -Uz compinit; compinit -u -D; source '$1
say 'compadd() { [[ $1 == -O || " $* " == *" -O "* || " $* " == *" -A "* || " $* " == *" -D "* ]] && { builtin compadd "$@"; return; }; local -a found; builtin compadd -O found "$@"; print -l -- \\<\${^found}\\>; builtin compadd "$@"; }'
say 'print re""ady'
zpty -r z seen '*ready*'
zpty -w -n z "$2"$'\\t'
zpty -w z $'\\x15print do""ne'
zpty -r z seen '*done*'
print -r -- $seen
`;

/** By shell. */
const SCRIPTS: Record<string, Promise<CommandResult>> = {};

async function offered(t: TestContext, shell: string, line: string): Promise<readonly string[]> {
  SCRIPTS[shell] ??= gateway('completion', shell);
  const { stdout: script } = await SCRIPTS[shell];
  const folder = await folderOf(t, { [`gateway.${shell}`]: script, 'routes.yaml': '' });
  await mkdir(join(folder, 'resources'));
  const { stdout } = await run(shell, ASK[shell]?.(join(folder, `gateway.${shell}`), line) ?? [], {
    cwd: folder,
    timeout: 60_000,
  });
  const found =
    shell === 'zsh'
      ? [...stdout.matchAll(/<([^<>\r\n]+)>/g)].map(([, word = '']) => word)
      : stdout.split('\n').map(text => text.split('\t')[0] ?? '');
  return [
    ...new Set(found.map(word => word.replace(/\/$/, '')).filter(word => word !== '')),
  ].sort();
}

const OFFERS: readonly [line: string, words: readonly string[]][] = [
  ['gateway va', ['validate']],
  ['gateway completion ', ['bash', 'fish', 'zsh']],
  ['gateway status --w', ['--watch']],
  ['gateway diff --de', ['--delete']],
  ['gateway validate ro', ['routes.yaml']],
  ['gateway diff --resources re', ['resources']],
  ['gateway up --resources r', ['resources']],
  ['gateway status --address ', []],
];

for (const shell of Object.keys(ASK)) {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .some(path => existsSync(join(path, shell)));
  describe(`completion in ${shell}`, { skip: found ? false : `needs ${shell}` }, () => {
    for (const [line, words] of OFFERS)
      test(`of "${line}"`, async t => assert.deepEqual(await offered(t, shell, line), words));

    test('has every command', async t => {
      const all = (await offered(t, shell, 'gateway ')).filter(word => !word.startsWith('-'));
      assert.deepEqual(all, Object.keys(COMMANDS).sort());
    });
  });
}

test('in bash also takes --option=value', async t => {
  assert.deepEqual(await offered(t, 'bash', 'gateway up --resources=r'), ['resources']);
});

test('another shell is rejected', async () => {
  const { code, stderr } = await gateway('completion', 'tcsh');
  assert.equal(code, 1);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});
