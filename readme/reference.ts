import { join } from 'node:path';
import { cliPage } from './cli-page.ts';
import { kebabCase } from './kind-files.ts';
import { KIND_NAMES, kindPage, kindsPage } from './kind-page.ts';
import { metricsPage } from './metrics-page.ts';

/** Where the pages are. */
export const REFERENCE = join(import.meta.dirname, '..', 'docs', 'reference');

/** Returns the generated pages of the reference, in Markdown, by their path in `docs/reference`. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['cli.md', await cliPage()],
    ['kinds.md', kindsPage()],
    ['metrics.md', await metricsPage()],
    ...KIND_NAMES.map(kind => [`kinds/${kebabCase(kind)}.md`, kindPage(kind)] as const),
  ]);
}
