import { Argument, Command } from 'commander';
import { bashCompletion } from './completion/bash.ts';
import { type CommandWords, commandWords } from './completion/command-words.ts';
import { fishCompletion } from './completion/fish.ts';
import { zshCompletion } from './completion/zsh.ts';

const SHELLS: Readonly<Record<string, (commands: readonly CommandWords[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

const EXAMPLES = `
The script completes the command \`gateway\`. Where only npx finds it, an alias gives it that name.

Examples:
  alias gateway='npx tollwright'
  source <(gateway completion bash)
  source <(gateway completion zsh)
  gateway completion fish | source
`;

/**
 * Returns `gateway completion`. It prints a script for a shell, made of what commander knows of
 * these commands.
 */
export function completionCommand(all: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .description('print a script with which a shell completes commands, options and files')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: string) => {
      process.stdout.write(SHELLS[shell]?.((await all()).map(commandWords)) ?? '');
    });
}
