import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { bootstrapCommand } from './bootstrap.ts';
import { compileCommand } from './compile.ts';
import { scaleCommand } from './scale.ts';
import { statusCommand } from './status.ts';
import { upCommand } from './up.ts';
import { validateCommand } from './validate.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));

const program = new Command('gateway')
  .description('An API gateway on Envoy, configured by a few YAML resources')
  .version(version)
  .showSuggestionAfterError()
  .showHelpAfterError('(--help shows what there is)')
  .addCommand(upCommand())
  .addCommand(scaleCommand())
  .addCommand(statusCommand())
  .addCommand(validateCommand())
  .addCommand(compileCommand())
  .addCommand(bootstrapCommand());

for (const command of program.commands) command.copyInheritedSettings(program);

// `gateway compile … | head` has had enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
