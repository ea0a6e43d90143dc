import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../cli/commands.ts';

const ROOT = join(import.meta.dirname, '..');

/** Programs that a reader has or is told to install. Their words are theirs to check. */
const PROGRAMS = [
  'docker',
  'kubectl',
  'helm',
  'openssl',
  'curl',
  'grpcurl',
  'git',
  'tar',
  'npm',
  'npx',
  'node',
  'mkdir',
  'rm',
  'tr',
  'grep',
  'xargs',
];

/** Returns what is wrong with a line that a page shows and no test can run, or undefined. */
export async function commandProblem(line: string): Promise<string | undefined> {
  const commands = line.replace(/ +# .*$/, '').split(' | ');
  const problems = await Promise.all(commands.map(command => problemOf(wordsOf(command))));
  return problems.find(problem => problem !== undefined);
}

async function problemOf(words: readonly string[]): Promise<string | undefined> {
  const [program = '', second] = words;
  if (!PROGRAMS.includes(program)) return `no program of ours, and not in PROGRAMS: ${program}`;
  const own = words.lastIndexOf(program === 'npx' ? 'tollwright' : 'cli/main.js');
  if (program === 'npm' && second === 'start') return ownProblem('up', words.slice(3));
  if (own > 0) return ownProblem(words[own + 1] ?? '', words.slice(own + 2));
  const missing = words.find(
    word => /^(deploy|envoy|controlplane)\//.test(word) && !existsSync(join(ROOT, word)),
  );
  if (missing !== undefined) return `there is no ${missing}`;
  if (program === 'docker' && /^(exec|cp)$/.test(words[2] ?? '')) return serviceProblem(words);
  return program === 'kubectl' ? kubectlProblem(words) : undefined;
}

/** Returns the words of a command without variables before it and redirections behind it. */
function wordsOf(command: string): readonly string[] {
  const words = command.replace(/^([A-Z_]+=\S+ )+/, '').match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const end = words.findIndex(word => ['>', '<', '&&', '||'].includes(word));
  return words
    .slice(0, end < 0 ? undefined : end)
    .map(word => word.replace(/^(['"])(.*)\1$/, '$2'));
}

function serviceProblem(words: readonly string[]): string | undefined {
  const [service] =
    words
      .slice(3)
      .find(word => !word.startsWith('-'))
      ?.split(':') ?? [];
  return COMPOSE.includes(`\n  ${service}:`) ? undefined : `compose.yaml has no service ${service}`;
}

const COMPOSE = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');

/** Kinds of Kubernetes' own that pages name. */
const BUILT_IN = [
  'configmaps',
  'customresourcedefinitions',
  'ingresses',
  'pods',
  'secret',
  'secrets',
  'services',
];
/** Of Gateway API and of Envoy Gateway, which `gateway import` reads. */
const OF_OTHERS = [
  'backendtlspolicies',
  'backendtrafficpolicies',
  'clienttrafficpolicies',
  'envoyextensionpolicies',
  'envoypatchpolicies',
  'gatewayclasses',
  'gateways',
  'grpcroutes',
  'httproutes',
  'listenersets',
  'referencegrants',
  'securitypolicies',
  'tcproutes',
  'tlsroutes',
  'udproutes',
];
const MANIFESTS = globSync('deploy/kubernetes/**/*.yaml', { cwd: ROOT })
  .map(file => readFileSync(join(ROOT, file), 'utf8'))
  .join();

/** Looks for the kinds and the objects of a command in our manifests. */
function kubectlProblem(words: readonly string[]): string | undefined {
  const kinds = words[words.indexOf('get') + 1]?.split(',') ?? [];
  const unknown = words.includes('get')
    ? kinds.find(
        kind =>
          ![...BUILT_IN, ...OF_OTHERS].includes(kind) && !MANIFESTS.includes(`plural: ${kind}\n`),
      )
    : undefined;
  if (unknown !== undefined) return `no definition of ours has the plural ${unknown}`;
  const objects = words.flatMap(word => /^deployment\/(.*)/.exec(word)?.slice(1) ?? []);
  const missing = objects.find(name => !MANIFESTS.includes(`metadata: { name: ${name}, `));
  return missing === undefined ? undefined : `no manifest of ours has a deployment ${missing}`;
}

async function ownProblem(name: string, args: readonly string[]): Promise<string | undefined> {
  const command = await COMMANDS[name]?.();
  if (command === undefined) return `gateway has no command ${name}`;
  if (args.includes('--help')) return undefined;
  const { operands, unknown } = command.parseOptions([...args]);
  if (unknown.length > 0) return `gateway ${name} has no option ${unknown[0]}`;
  const wanted = command.registeredArguments;
  const required = command.usage().match(/<[^>]+>/g) ?? [];
  const enough = operands.length >= required.length;
  const tooMany = operands.length > wanted.length && !wanted.some(({ variadic }) => variadic);
  return enough && !tooMany
    ? undefined
    : `gateway ${name} does not take ${operands.length} arguments`;
}
