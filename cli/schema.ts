import { Argument, Command } from 'commander';
import { bundledSchema, kindSchema } from '#resources/json-schema/kind-schema.ts';
import { DOCUMENTED_KINDS, type Kind } from '#resources/kinds/known-kinds.ts';
import { suggest } from '#resources/words/suggest.ts';

type Flags = { readonly list?: boolean };

const EXAMPLES = `
An editor with the YAML language server checks a file whose first line names the schema:
  # yaml-language-server: $schema=schema.json

Examples:
  gateway schema > my-site/schema.json
  gateway schema Mapping
  gateway schema --list
`;

/** Returns `gateway schema`. It prints the JSON Schema of one kind or of all. */
export function schemaCommand(): Command {
  return new Command('schema')
    .description('print the JSON Schema of resources, with which editors check and complete them')
    .addArgument(
      new Argument('[kind]', 'one kind. Default: all, each document by its own kind')
        .choices(DOCUMENTED_KINDS)
        // The parser that comes with choices knows no other letter case, and no suggestion.
        .argParser(toKind),
    )
    .option('--list', 'print the names of the kinds')
    .addHelpText('after', EXAMPLES)
    .action((kind: Kind | undefined, { list = false }: Flags, command: Command) => {
      if (list && kind !== undefined) command.error('error: --list prints all kinds: name none');
      const schema = kind === undefined ? bundledSchema() : kindSchema(kind);
      const text = list ? DOCUMENTED_KINDS.join('\n') : JSON.stringify(schema, null, 2);
      process.stdout.write(`${text}\n`);
    });
}

function toKind(text: string): Kind {
  const kind = DOCUMENTED_KINDS.find(name => name.toLowerCase() === text.toLowerCase());
  if (kind !== undefined) return kind;
  const hint = suggest(text, DOCUMENTED_KINDS) || '. `gateway schema --list` prints the kinds';
  throw new Error(`"${text}" is no kind of the gateway${hint}`);
}
