import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { importObjects } from '../import-objects.ts';
import type { Imported } from '../imported.ts';
import { readObjects } from '../source-object.ts';

/** The folder of the cases. `<case>.in.yaml` is what others wrote. */
export const GOLDEN = join(import.meta.dirname, '..', 'testdata');

export type ImportCase = {
  readonly name: string;
  readonly imported: Imported;
};

/** As `gateway validate` finds them. */
export function check(text: string): readonly Problem[] {
  return parseFile('', text, DEFAULT_PARSE_OPTIONS).problems;
}

const FORMS = ['mappings', 'gateway-api'] as const;

/** Returns what the cases in the folder become. */
export function importCases(): readonly ImportCase[] {
  return readdirSync(GOLDEN)
    .filter(file => file.endsWith('.in.yaml'))
    .flatMap(file => {
      const objects = readObjects(file, readFileSync(join(GOLDEN, file), 'utf8'));
      const name = file.slice(0, -'.in.yaml'.length);
      const forms = file.startsWith('ingress') ? FORMS : FORMS.slice(0, 1);
      return forms.map(to => ({
        name: to === 'mappings' ? name : `${name}.${to}`,
        imported: importObjects(objects, { ingressClass: 'nginx', to, check }),
      }));
    });
}
