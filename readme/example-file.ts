import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from '#resources/kinds.ts';

/** Where the example of a kind is: `examples/proxy-config.yaml` for ProxyConfig. */
export function exampleFile(kind: Kind): string {
  return join(import.meta.dirname, 'examples', `${fileName(kind)}.yaml`);
}

/** What the table of a kind cannot say, in Markdown, from `notes/rate-limit.md` for RateLimit; empty: there is no such file. */
export function noteOf(kind: Kind): string {
  const file = join(import.meta.dirname, 'notes', `${fileName(kind)}.md`);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function fileName(kind: Kind): string {
  return kind.replace(/(?<=[a-z])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g, '-$&').toLowerCase();
}
