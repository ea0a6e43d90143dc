import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Kind } from '#resources/kinds/known-kinds.ts';

/** Returns where the example of a kind is: `examples/proxy-config.yaml` for ProxyConfig. */
export function exampleFile(kind: Kind): string {
  return join(import.meta.dirname, 'examples', `${kebabCase(kind)}.yaml`);
}

/** Names the schema, for editors. Its path is right in the clone alone. */
const MODELINE = /^# yaml-language-server: .*\n/gm;

/** Returns the example of a kind, in YAML, as a reader may save it anywhere. */
export function exampleOf(kind: Kind): string {
  return readFileSync(exampleFile(kind), 'utf8').replace(MODELINE, '');
}

/** Returns the documents of this very kind in its example. */
export function examplesOf(kind: Kind): readonly unknown[] {
  const documents = parseAllDocuments(exampleOf(kind)).map(document => document.toJS());
  return documents.filter(document => document.kind === kind);
}

/**
 * Returns what the table of a kind cannot say, in Markdown, from `notes/rate-limit.md` for
 * RateLimit. Empty when there is no such file.
 */
export function noteOf(kind: Kind): string {
  const file = join(import.meta.dirname, 'notes', `${kebabCase(kind)}.md`);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Returns the name of a kind as file names spell it: `tls-context` for TLSContext. */
export function kebabCase(kind: Kind): string {
  return kind.replace(/(?<=[a-z])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g, '-$&').toLowerCase();
}
