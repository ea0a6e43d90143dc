import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { COMMANDS } from './commands.ts';
import { refuseEmpty } from './refuse-empty.ts';

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
);

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
