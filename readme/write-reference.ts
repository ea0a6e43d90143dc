import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DOCS, generatedPages } from './reference.ts';

/** `npx node readme/write-reference.ts` writes the generated pages of docs. */
for (const [name, text] of await generatedPages()) {
  const file = join(DOCS, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
