import { join } from 'node:path';
import type { Kind } from '#resources/kinds.ts';

/** Where the example of a kind is: `examples/proxy-config.yaml` for ProxyConfig. */
export function exampleFile(kind: Kind): string {
  const name = kind.replace(/(?<=[a-z])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g, '-$&').toLowerCase();
  return join(import.meta.dirname, 'examples', `${name}.yaml`);
}
