import { kindTable } from '#resources/docs.ts';
import { KINDS, type Kind } from '#resources/kinds.ts';

const INTRODUCTION = `# Resources
<!-- Made from the schemas in resources/ and the examples and notes in readme/ by \`npx node readme/write-resources.ts\`. -->

Each is a YAML document with \`apiVersion: gateway.internal/v2\` (or \`getambassador.io/v2\`), a \`kind\`, and in \`metadata\` a \`name\` and
a \`namespace\` (\`default\` unless it is given). A file may hold many documents, a folder many files (\`.yaml\`, \`.yml\`, \`.json\`).

A mistake is a problem with file, line and field; \`gateway validate\` and \`gateway status\` show it. An unknown field is a warning with the name that
was probably meant, in Filter and FilterPolicy an error. A resource with an error is not used: its last good version stays in force, and nothing else is disturbed. Where there is none,
what a Mapping (whose match can be read), a Filter, a FilterPolicy, a Host or a TLSContext covers, or may cover, answers 500 or has no TLS: nothing wider stands in.
What only a running service can know (a provider whose issuer is another, a certificate file that is wrong or about to end) \`gateway status\` shows, and \`validate\` cannot.

Limits match requests by the labels that Mappings and the Module give them: see RateLimit.
`;

/** RESOURCES.md: each kind that is served with an example, a note (or an empty one), and its fields, as its schema says. */
export function resourcesPage(exampleOf: (kind: Kind) => string, noteOf: (kind: Kind) => string): string {
  const kinds = (Object.keys(KINDS) as Kind[]).map(kind => kindSection(kind, exampleOf(kind), noteOf(kind)));
  return [INTRODUCTION, ...kinds].join('\n');
}

function kindSection(kind: Kind, example: string, note: string): string {
  const definition = KINDS[kind];
  const shown = `\`\`\`yaml\n${example}\`\`\``;
  const parts = [definition.summary, namesOf(kind), shown, note.trimEnd(), kindTable(definition)];
  return `## ${kind}\n${parts.filter(part => part !== '').join('\n\n')}`;
}

function namesOf(kind: Kind): string {
  const { names, singleton = false }: { names?: readonly string[]; singleton?: boolean } = KINDS[kind];
  const [own, ...aliases] = (names ?? []).map(name => `\`${name}\``);
  const name = own === undefined ? '' : `Its name is ${[own, ...aliases].join(' or ')}.`;
  return [name, singleton ? 'A gateway has one.' : ''].filter(part => part !== '').join(' ');
}
