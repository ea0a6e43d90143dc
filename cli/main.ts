import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { refuseEmpty } from './refuse-empty.ts';

/** Each command is loaded only when it is asked for: `up` starts its first child sooner without the compiler. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./up.ts')).upCommand(),
  scale: async () => (await import('./scale.ts')).scaleCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  validate: async () => (await import('./validate.ts')).validateCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  compile: async () => (await import('./compile.ts')).compileCommand(),
  bootstrap: async () => (await import('./bootstrap.ts')).bootstrapCommand(),
};

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));

const program = new Command('gateway')
  .description('An API gateway on Envoy, configured by a few YAML resources')
  .version(version)
  .showSuggestionAfterError()
  .showHelpAfterError('(--help shows what there is)')
  .hook('preAction', (_program, command) => refuseEmpty(command));

const asked = COMMANDS[process.argv[2] ?? ''];
for (const load of asked === undefined ? Object.values(COMMANDS) : [asked]) {
  program.addCommand((await load()).copyInheritedSettings(program));
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return; // `gateway compile … | head` has had enough
  process.stderr.write(`gateway: Cannot write the output: ${error.message}\n`);
  process.exit(1);
});

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
