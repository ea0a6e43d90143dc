import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleFile } from './example-file.ts';
import { resourcesPage } from './resources-page.ts';

/** `npx node readme/write-resources.ts`: writes RESOURCES.md anew, after a schema or an example has changed. */
writeFileSync(
  join(import.meta.dirname, '..', 'RESOURCES.md'),
  resourcesPage(kind => readFileSync(exampleFile(kind), 'utf8')),
);
