import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { makeFolder } from '#files/make-folder.ts';
import { createFile } from '#files/write-durably.ts';

/** What the provider signs with, and what it protects its cookies with. */
export type ProviderKeys = { readonly signing: JWK; readonly cookies: string };

/**
 * Reads the keys in `file`, which is made at the first start and readable by its owner alone.
 * Processes that start at once all get the same. Throws the system's error, or one that names a
 * file that holds something else.
 */
export async function readKeys(file: string): Promise<ProviderKeys> {
  const known = tryRead(file);
  if (known !== undefined) return known;
  makeFolder(dirname(file));
  createFile(file, JSON.stringify(await newKeys()));
  const written = tryRead(file);
  if (written !== undefined) return written;
  throw new Error(`${file} is gone again: stop the program that removes it`);
}

async function newKeys(): Promise<ProviderKeys> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const signing = { ...(await exportJWK(privateKey)), kid: randomUUID(), use: 'sig', alg: 'RS256' };
  return { signing, cookies: randomBytes(32).toString('hex') };
}

function tryRead(file: string): ProviderKeys | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const keys = parseKeys(text);
  if (keys === undefined) throw new Error(`${file} does not hold the provider's keys: remove it`);
  return keys;
}

function parseKeys(text: string): ProviderKeys | undefined {
  try {
    const { signing, cookies } = JSON.parse(text);
    return typeof signing?.d === 'string' && typeof cookies === 'string'
      ? { signing, cookies }
      : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
