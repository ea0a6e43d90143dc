import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleFile, noteOf } from './example-file.ts';
import { resourcesPage } from './resources-page.ts';

/** `npx node readme/write-resources.ts`: writes RESOURCES.md anew, after a schema, an example or a note has changed. */
writeFileSync(
  join(import.meta.dirname, '..', 'RESOURCES.md'),
  resourcesPage(kind => readFileSync(exampleFile(kind), 'utf8'), noteOf),
);
