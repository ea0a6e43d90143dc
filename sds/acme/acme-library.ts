import '#certificates/reflect-metadata.ts';
import type { Client } from 'acme-client';
import { type AuthorityRequest, askAuthority } from './ask-authority.ts';

export type AcmeLibrary = typeof import('acme-client');

let loaded: Promise<AcmeLibrary> | undefined;

/**
 * Loads the client of the ACME protocol, which only processes with an order need. Its requests go
 * through `askAuthority`, which bounds them, and without its own retries, which wait as long as the
 * authority says.
 */
export function acmeLibrary(now: () => number): Promise<AcmeLibrary> {
  loaded ??= load(now);
  return loaded;
}

async function load(now: () => number): Promise<AcmeLibrary> {
  const acme = (await import('acme-client')).default as unknown as AcmeLibrary;
  acme.axios.defaults.adapter = async config => {
    const answer = await askAuthority(config as AuthorityRequest, now);
    return { ...answer, config };
  };
  return acme;
}

/** How often, and after how many ms, an order is asked for that the authority still works on. */
const POLLS = { backoffAttempts: 15, backoffMin: 500, backoffMax: 8_000 };

export function acmeClient(acme: AcmeLibrary, directoryUrl: string, accountKey: string): Client {
  return new acme.Client({ directoryUrl, accountKey, ...POLLS });
}
