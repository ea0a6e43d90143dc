import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the identity by which this control plane holds its Leases. It stands in the state folder.
 * So a container that is started again after a crash goes on with its own Leases, and does not wait
 * until they expire. Throws the system's error.
 */
export function leaseHolder(state: string): string {
  const file = join(state, 'lease-holder');
  if (!existsSync(file)) writeFileSync(file, randomUUID().slice(0, 8), { mode: 0o600 });
  return `${hostname()}-${readFileSync(file, 'utf8').slice(0, 8)}`;
}
