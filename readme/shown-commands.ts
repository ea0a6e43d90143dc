import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { bootstrapCommand } from '../cli/bootstrap.ts';
import { compileCommand } from '../cli/compile.ts';
import { explainCommand } from '../cli/explain.ts';
import { scaleCommand } from '../cli/scale.ts';
import { statusCommand } from '../cli/status.ts';
import { upCommand } from '../cli/up.ts';
import { validateCommand } from '../cli/validate.ts';

const ROOT = join(import.meta.dirname, '..');

const COMMANDS: readonly Command[] = [
  upCommand(),
  scaleCommand(),
  statusCommand(),
  validateCommand(),
  explainCommand(),
  compileCommand(),
  bootstrapCommand(),
];

/** Programs that a reader has or is told to install. Their words are theirs to check. */
const PROGRAMS = [
  'docker',
  'kubectl',
  'kind',
  'openssl',
  'curl',
  'git',
  'tar',
  'npm',
  'npx',
  'grep',
  'redis-cli',
];

/** Returns what is wrong with a command that a page shows and no test can run, or undefined. */
export function commandProblem(line: string): string | undefined {
  const words = wordsOf(line.replace(/ +# .*$/, ''));
  const [program = ''] = words;
  if (!PROGRAMS.includes(program)) return `no program of ours, and not in PROGRAMS: ${program}`;
  const own = program === 'npx' ? words.indexOf('gateway') : words.indexOf('cli/main.ts');
  if (program === 'npm' && words[1] === 'start') return ownProblem('up', words.slice(3));
  if (own > 0) return ownProblem(words[own + 1] ?? '', words.slice(own + 2));
  const missing = words.find(
    word => /^(deploy|envoy|controlplane)\//.test(word) && !existsSync(join(ROOT, word)),
  );
  return missing === undefined ? undefined : `there is no ${missing}`;
}

/** The words of a line until a pipe or a redirection. */
function wordsOf(line: string): readonly string[] {
  const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const end = words.findIndex(word => ['|', '>', '<', '&&'].includes(word));
  return words.slice(0, end < 0 ? undefined : end).map(word => word.replace(/^(['"])(.*)\1$/, '$2'));
}

function ownProblem(name: string, args: readonly string[]): string | undefined {
  const command = COMMANDS.find(each => each.name() === name);
  if (command === undefined) return `gateway has no command ${name}`;
  const { operands, unknown } = command.parseOptions([...args]);
  if (unknown.length > 0) return `gateway ${name} has no option ${unknown[0]}`;
  const wanted = command.registeredArguments;
  const enough = operands.length >= wanted.filter(({ required }) => required).length;
  const tooMany = operands.length > wanted.length && !wanted.some(({ variadic }) => variadic);
  return enough && !tooMany ? undefined : `gateway ${name} does not take ${operands.length} arguments`;
}
