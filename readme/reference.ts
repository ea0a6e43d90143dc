import { join } from 'node:path';
import { allKindsSchema, kindSchema } from '#resources/json-schema/kind-schema.ts';
import { DOCUMENTED_KINDS, type Kind } from '#resources/kinds/known-kinds.ts';
import { cliPage } from './cli-page.ts';
import { contentsPage } from './contents-page.ts';
import { helmValuesPage } from './helm-values-page.ts';
import { examplesOf, kebabCase } from './kind-files.ts';
import { kindPage, kindsPage } from './kind-page.ts';
import { metricsPage } from './metrics-page.ts';

/** Where the pages are. */
export const DOCS = join(import.meta.dirname, '..', 'docs');

/** Returns the generated pages, in Markdown, and the schemas, in JSON, by their path in `docs`. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['README.md', contentsPage()],
    ['reference/cli.md', await cliPage()],
    ['reference/helm-values.md', helmValuesPage()],
    ['reference/kinds.md', kindsPage()],
    ['reference/metrics.md', await metricsPage()],
    ['schemas/all.json', toJson(allKindsSchema(kind => `./${kebabCase(kind)}.json`))],
    ...DOCUMENTED_KINDS.map(kind => [`schemas/${kebabCase(kind)}.json`, schemaPage(kind)] as const),
    ...DOCUMENTED_KINDS.map(
      kind => [`reference/kinds/${kebabCase(kind)}.md`, kindPage(kind)] as const,
    ),
  ]);
}

function schemaPage(kind: Kind): string {
  return toJson({ ...kindSchema(kind), examples: examplesOf(kind) });
}

function toJson(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
