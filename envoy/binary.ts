import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const ENVOY_VERSION = '1.40.0';

/** Path of the Envoy binary to run: ENVOY_BIN, else the installed one below `.gateway/`. */
export async function envoyBinary(): Promise<string> {
  const own = join(import.meta.dirname, '..', '.gateway', `envoy-${ENVOY_VERSION}`, 'envoy');
  const path = process.env.ENVOY_BIN ?? own;
  if (!existsSync(path)) throw new Error(`No Envoy at ${path}`);
  return path;
}
