import { KINDS } from '#resources/kinds/kinds.ts';
import { DOCUMENTED_KINDS, type Kind, SINGLETONS } from '#resources/kinds/known-kinds.ts';
import { kindTable } from '#resources/schema/docs.ts';
import { exampleOf, kebabCase, noteOf } from './kind-files.ts';

const INTRODUCTION = `# Kinds

Each resource is a YAML document. It has an \`apiVersion\`, a \`kind\` and a \`metadata\`.

- \`apiVersion\` is \`gateway.internal/v2\`. Ambassador's \`getambassador.io/v2\` is read too.
- Kinds of [Gateway API](https://gateway-api.sigs.k8s.io/) have \`gateway.networking.k8s.io/v1\`.
  Namespaces, Services, ConfigMaps and ClusterTrustBundles beside them are read for what Gateway
  API refers to.
- \`metadata.name\` is required. \`metadata.namespace\` is \`default\` unless it is given.
- A file may hold many documents. A folder may hold many files, \`.yaml\`, \`.yml\` or \`.json\`.

A mistake is a Problem with file, line and field. \`gateway validate\` and \`gateway status\` show it.
An unknown field is a warning with the name that was probably meant. In Filter and FilterPolicy it
is an error.

A resource with an error is not used. Its last good version stays in force, and all other resources
go on. Where there is no last good version, what the resource covers is closed. Its paths answer
500, or its names have no TLS. This holds for a Mapping whose match can be read, a Filter, a
FilterPolicy, a Host, a TLSContext, and what is right of the host names and matches of a route of
Gateway API. No wider rule takes their place. A RateLimit, a RateLimitService, a LogService and a
TracingService close nothing. Without a last good version they have no effect. A FilterPolicy also
closes what it covers beyond its last good version. A Mapping is closed when its last good version
would lose a rule with Filters. What a second document of one name covers beyond the first is closed
too, for a FilterPolicy, Mapping, Host or TLSContext.

Some mistakes show only while the gateway runs. A provider may have another issuer, or a certificate
file may be about to end. \`gateway status\` shows them. \`gateway validate\` cannot know them.

| kind | what it is |
|---|---|
`;

/** Returns the page that lists the kinds, in Markdown. */
export function kindsPage(): string {
  const rows = DOCUMENTED_KINDS.map(
    kind =>
      `| [${kind}](kinds/${kebabCase(kind)}.md) | ${KINDS[kind].summary.replace(/\.$/, '')} |`,
  );
  return `${INTRODUCTION}${rows.join('\n')}\n`;
}

/** Returns the page of a kind, in Markdown: example, note, and the fields that its schema has. */
export function kindPage(kind: Kind): string {
  const definition = KINDS[kind];
  const parts = [
    `# ${kind}`,
    wrapped(definition.summary),
    namesOf(kind),
    `\`\`\`yaml\n${exampleOf(kind)}\`\`\``,
    noteOf(kind).trimEnd(),
    `## Fields\n\n${kindTable(definition)}`,
  ];
  return parts.filter(part => part !== '').join('\n\n');
}

/** Wraps a paragraph at 100 columns. */
function wrapped(text: string): string {
  return text.replace(/(?=.{101})(.{1,100}) /g, '$1\n');
}

function namesOf(kind: Kind): string {
  const names = SINGLETONS.get(kind);
  if (names === undefined) return '';
  const name = names.map(name => `\`${name}\``).join(' or ');
  return `${name === '' ? '' : `Its name is ${name}. `}A gateway has one.`;
}
