import { createSecretKey, type KeyObject } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';
import { createFile } from '#files/write-durably.ts';
import { newSecret, type RandomBytes } from './sealed-record.ts';

export type Malformed = { readonly error: string };

const KEY_BYTES = 32;
const FILE = 'store.key';

/**
 * Parses the store key as a Secret or an environment variable holds it. It is 32 bytes, as 64
 * hexadecimal digits, as Base64 (RFC 4648, either alphabet, with or without padding), or raw. A
 * last line feed is cut. The error does not show the value.
 */
export function parseStoreKey(value: string | Uint8Array): KeyObject | Malformed {
  if (typeof value !== 'string' && value.length === KEY_BYTES) return createSecretKey(value);
  const text = Buffer.from(value)
    .toString('latin1')
    .replace(/\r?\n$/, '');
  if (/^[0-9a-fA-F]{64}$/.test(text)) return createSecretKey(Buffer.from(text, 'hex'));
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return createSecretKey(Buffer.from(text, 'base64'));
  return { error: 'a store key is 32 bytes, as 64 hexadecimal digits or as Base64' };
}

/**
 * Opens the store key of a state folder (`store.key`, 0600), and makes it when there is none. It is
 * never seen half written and survives a power cut. Processes that start at once all get the same.
 * `made` is called in the one that made it. Throws the system's error. For a file that is not a key
 * the error says what to do.
 */
export function openStoreKey(
  folder: string,
  randomBytes: RandomBytes,
  made: (path: string) => void = () => {},
): KeyObject {
  const path = join(folder, FILE);
  makeFolder(folder);
  const text = readIfThere(path) ?? makeKey(path, randomBytes, made);
  const key = parseStoreKey(text);
  if ('error' in key)
    throw new Error(
      `${path}: ${key.error}. Put the old key back, or remove the file and a new one is made`,
    );
  chmodSync(path, 0o600);
  return key;
}

/** When another process has made the file meanwhile, that file counts. */
function makeKey(path: string, randomBytes: RandomBytes, made: (path: string) => void): string {
  if (createFile(path, `${newSecret(randomBytes)}\n`)) made(path);
  return readFileSync(path, 'latin1');
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
