import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { REFERENCE, referencePages } from './reference.ts';

/** `npx node readme/write-reference.ts` writes the generated pages of docs/reference. */
for (const [name, text] of await referencePages()) {
  const file = join(REFERENCE, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
