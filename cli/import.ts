import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { toYaml } from './import/document.ts';
import { importObjects } from './import/import-objects.ts';
import type { Imported } from './import/imported.ts';
import { describeRemark } from './import/remark.ts';
import { readObjects, type SourceObject } from './import/source-object.ts';
import { makeFolder } from './make-folder.ts';
import { readFiles } from './read-resources.ts';
import { count } from './validate-output.ts';

type Flags = {
  readonly ingressClass: string;
  readonly to: 'mappings' | 'gateway-api';
  readonly output?: string;
  readonly strict?: boolean;
};

const EXAMPLES = `
Reads Ingresses for ingress-nginx, and Gateway API with the policies of Envoy Gateway. The file -
is the standard input.

Prints documents, and a line on stderr for each thing that could not be taken over:
  closed   it restricts access and cannot be expressed. What it covers answers 500
  dropped  it has no effect any more
  changed  it means something else

Exits with 0 when the documents are written, with 1 when a file cannot be read or none has
anything to import, and with 2 when --strict is set and something could not be taken over.

Examples:
  kubectl get ingresses -A -o yaml | gateway import - > routes.yaml
  kubectl get gateways,httproutes,securitypolicies -A -o yaml | gateway import - > routes.yaml
  gateway import ingresses --output my-site/resources --strict
`;

/** Returns `gateway import`. It turns configuration of other gateways into ours. */
export function importCommand(): Command {
  return new Command('import')
    .description(
      'turn configuration of ingress-nginx or Envoy Gateway into resources, and list what is lost',
    )
    .argument('<files...>', 'YAML files, folders of them, or -')
    .option(
      '--output <folder>',
      'write a file for each kind there, over one of its name, and nothing to stdout',
    )
    .option('--ingress-class <name>', 'the class of the Ingresses that are read', 'nginx')
    .addOption(
      new Option(
        '--to <form>',
        'what Ingresses become: Hosts and Mappings, or a Gateway and HTTPRoutes',
      )
        .choices(['mappings', 'gateway-api'])
        .default('mappings'),
    )
    .option('--strict', 'fail when something could not be taken over')
    .addHelpText('after', EXAMPLES)
    .action(run);
}

async function run(paths: string[], flags: Flags): Promise<void> {
  const { ingressClass, to } = flags;
  const imported = importObjects(await readAll(paths), { ingressClass, to, check });
  if (imported.documents.length === 0 && imported.remarks.length === 0)
    throw new Error(
      'nothing to import: there is neither an Ingress nor an object of Gateway API in these files',
    );
  for (const remark of imported.remarks) process.stderr.write(`${describeRemark(remark)}\n`);
  write(imported, flags.output);
  process.stderr.write(`${summaryOf(imported)}\n`);
  process.exitCode = flags.strict && imported.remarks.length > 0 ? INEXPRESSIBLE : 0;
}

function check(text: string): readonly Problem[] {
  return parseFile('', text, DEFAULT_PARSE_OPTIONS).problems;
}

const INEXPRESSIBLE = 2;
const STDIN = '-';

async function readAll(paths: readonly string[]): Promise<readonly SourceObject[]> {
  const given = paths.includes(STDIN) ? readObjects('stdin', await text(process.stdin)) : [];
  const files = readFiles(paths.filter(path => path !== STDIN));
  const read = [...files].flatMap(([file, content]) => {
    if ('error' in content) throw new Error(`${file}: ${content.error}`);
    return readObjects(file, content.text);
  });
  return [...given, ...read];
}

function write({ documents }: Imported, folder: string | undefined): void {
  if (folder === undefined) {
    process.stdout.write(toYaml(documents));
    return;
  }
  makeFolder(folder);
  for (const [kind, of] of Map.groupBy(documents, ({ kind }) => kind))
    writeFileSync(join(folder, `${kind.toLowerCase()}.yaml`), toYaml(of));
}

function summaryOf({ documents, remarks }: Imported): string {
  const effects = ['closed', 'dropped', 'changed'].map(
    effect => `${remarks.filter(remark => remark.effect === effect).length} ${effect}`,
  );
  return `${count(documents.length, 'document')}, ${effects.join(', ')}`;
}
