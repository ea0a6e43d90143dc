import { join } from 'node:path';
import { cliPage } from './cli-page.ts';
import { contentsPage } from './contents-page.ts';
import { kebabCase } from './kind-files.ts';
import { KIND_NAMES, kindPage, kindsPage } from './kind-page.ts';
import { metricsPage } from './metrics-page.ts';

/** Where the pages are. */
export const DOCS = join(import.meta.dirname, '..', 'docs');

/** Returns the generated pages, in Markdown, by their path in `docs`. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['README.md', contentsPage()],
    ['reference/cli.md', await cliPage()],
    ['reference/kinds.md', kindsPage()],
    ['reference/metrics.md', await metricsPage()],
    ...KIND_NAMES.map(kind => [`reference/kinds/${kebabCase(kind)}.md`, kindPage(kind)] as const),
  ]);
}
