import type { Command, Option } from 'commander';
import { COMMANDS } from '../cli/commands.ts';

const INTRODUCTION = `# Commands

\`npx tollwright <command>\` runs a command in this folder. \`npm start\` is \`gateway up\`. Where the
package is installed, both \`gateway\` and \`tollwright\` are its command.

A command ends with 0 when all is well, and with 1 when it is not. \`explain\` ends with 1 when no
service would get the request. \`diff\` ends with 0 without a difference, with 1 with one, and with 2
when the change brings an error or nothing could be compared. So does \`upgrade-check\`, for changes
that concern you. \`import --strict\` ends with 2 when something could not be taken over. Files
without a resource end \`validate\` with 1, and \`upgrade-check\` with 2. An empty argument or option
is an error. \`--help\` shows examples too.

Commands that read files read the resources that a control plane with the same \`GATEWAY_ID\` and
\`API_GROUPS\` [reads](environment.md). \`validate\` tells how many are for other gateways.
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
