import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import { issuerOf } from '#certificates/authority/roots.ts';
import { parseRoots } from '#certificates/authority/roots-text.ts';

/** The root of an sds with this state folder, by which a test can sign what it would not. */
export function authorityOf(state: string): KeyPair {
  const parsed = parseRoots(readFileSync(join(state, 'authority', 'roots.json'), 'utf8'));
  const issuer = 'roots' in parsed ? issuerOf(parsed.roots, Date.now()) : undefined;
  if (issuer === undefined) throw new Error(`no root in ${state}`);
  return issuer;
}

export function serialOf({ certificate }: KeyPair): string {
  return new X509Certificate(certificate).serialNumber.toLowerCase();
}
