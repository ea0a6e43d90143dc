import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../cli/commands.ts';

const ROOT = join(import.meta.dirname, '..');

/** Programs that a reader has or is told to install. Their words are theirs to check. */
const PROGRAMS = ['docker', 'kubectl', 'openssl', 'curl', 'git', 'tar', 'npm', 'npx', 'node'];

/** Returns what is wrong with a command that a page shows and no test can run, or undefined. */
export async function commandProblem(line: string): Promise<string | undefined> {
  const words = wordsOf(line.replace(/ +# .*$/, '').replace(/^([A-Z_]+=\S+ )+/, ''));
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

async function ownProblem(name: string, args: readonly string[]): Promise<string | undefined> {
  const command = await COMMANDS[name]?.();
  if (command === undefined) return `gateway has no command ${name}`;
  const { operands, unknown } = command.parseOptions([...args]);
  if (unknown.length > 0) return `gateway ${name} has no option ${unknown[0]}`;
  const wanted = command.registeredArguments;
  const enough = operands.length >= wanted.filter(({ required }) => required).length;
  const tooMany = operands.length > wanted.length && !wanted.some(({ variadic }) => variadic);
  return enough && !tooMany ? undefined : `gateway ${name} does not take ${operands.length} arguments`;
}
