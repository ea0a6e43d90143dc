import type { Command, Option } from 'commander';
import { COMMANDS } from '../cli/commands.ts';

const INTRODUCTION = `# Commands

\`npx tollwright <command>\` runs a command in this folder. \`npm start\` is \`gateway up\`. Where the
package is installed, both \`gateway\` and \`tollwright\` are its command.

A command exits with 0 when all is well, and with 1 when it is not. For these the code says more:

| command | exits with 1 | exits with 2 |
|---|---|---|
| \`validate\` | a Problem is an error, or no file has a resource | |
| \`status\` | it is not ready, or a resource has an error | |
| \`explain\` | no service would get the request | |
| \`diff\` | there is a difference | the change brings an error, or nothing could be compared |
| \`upgrade-check\` | a change concerns you | a file cannot be read, none has a resource, or the state is newer |
| \`import\` | a file cannot be read, or nothing can be imported | with \`--strict\`, something could not be taken over |

An empty argument or option is an error. \`--help\` shows examples too.

Commands that read files read the resources that a control plane with the same \`GATEWAY_ID\` and
\`API_GROUPS\` [reads](environment.md). \`validate\` says how many are for other gateways.
`;

/** Returns the page of the commands, in Markdown, as commander knows them. */
export async function cliPage(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map(load => load()));
  return [INTRODUCTION, ...commands.map(section)].join('\n');
}

function section(command: Command): string {
  const usage = `gateway ${command.name()} ${command.usage()}`;
  const parts = [
    `## ${command.name()}`,
    sentence(command.description()),
    `\`\`\`text shown\n${usage}\n\`\`\``,
    table(
      'argument',
      command.registeredArguments.map(
        argument => [`<${argument.name()}>`, argument.description] as const,
      ),
    ),
    table('option', command.options.map(optionRow)),
  ];
  return `${parts.filter(part => part !== '').join('\n\n')}\n`;
}

function optionRow({ flags, description, defaultValue, defaultValueDescription }: Option) {
  const fallback = defaultValueDescription ?? defaultValue;
  return [
    flags,
    fallback === undefined ? description : `${description} (default: ${fallback})`,
  ] as const;
}

function table(of: string, rows: readonly (readonly [name: string, meaning: string])[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(
    ([name, meaning]) => `| \`${name}\` | ${meaning.replaceAll('<', '&lt;')} |`,
  );
  return [`| ${of} | meaning |`, '|---|---|', ...lines].join('\n');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
