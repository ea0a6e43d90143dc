import type { KeyObject } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  openBytes,
  type RandomBytes,
  type RecordSeal,
  type SealScope,
  sealBytes,
  sealOfCredentials,
} from './sealed-record.ts';

/** What a text is for, and what it is bound to besides: it opens as that and for those alone. */
export type TextScope = SealScope & { readonly boundTo: readonly string[] };

export type OpenedText = {
  readonly value: unknown;
  /** Random bytes that are the text's own, as hexadecimal digits. */
  readonly seed: string;
};

/** Each text has a key of its own, so that no number of them wears a key out. */
const SEED_BYTES = 16;
/** What is shorter gains little, and most are. */
const WORTH_DEFLATING = 512;
const LONGEST_VALUE = 65_536;
const TEXT = /^[A-Za-z0-9_-]+$/;
const [PLAIN, DEFLATED] = [0, 1];

/**
 * Seals a value of JSON for somebody to keep, such as a cookie: whoever has the store key opens it
 * again. Base64url (RFC 4648 section 5) of a seed and the sealed bytes.
 */
export function sealText(
  storeKey: KeyObject,
  scope: TextScope,
  { seed, value }: OpenedText,
  randomBytes: RandomBytes,
): string {
  const sealed = sealBytes(sealOf(storeKey, scope, seed), packed(value), randomBytes);
  return Buffer.concat([Buffer.from(seed, 'hex'), sealed]).toString('base64url');
}

export function newSeed(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(SEED_BYTES)).toString('hex');
}

/** Undefined for what was not sealed so: with another key, for something else, or tampered with. */
export function openText(
  storeKey: KeyObject,
  scope: TextScope,
  text: string,
): OpenedText | undefined {
  if (!TEXT.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const seed = bytes.subarray(0, SEED_BYTES).toString('hex');
  const opened = openBytes(sealOf(storeKey, scope, seed), bytes.subarray(SEED_BYTES));
  return opened && { value: unpacked(Buffer.from(opened)), seed };
}

function sealOf(
  storeKey: KeyObject,
  { boundTo, kind, realm }: TextScope,
  seed: string,
): RecordSeal {
  return sealOfCredentials(storeKey, { kind, realm }, [...boundTo, seed]);
}

function packed(value: unknown): Uint8Array {
  const text = Buffer.from(JSON.stringify(value));
  if (text.length < WORTH_DEFLATING) return Buffer.concat([Uint8Array.of(PLAIN), text]);
  return Buffer.concat([Uint8Array.of(DEFLATED), deflateRawSync(text, { level: 9 })]);
}

/** It is ours: the seal was whole. */
function unpacked(bytes: Buffer): unknown {
  const text = bytes.subarray(1);
  const plain =
    bytes[0] === DEFLATED ? inflateRawSync(text, { maxOutputLength: LONGEST_VALUE }) : text;
  return JSON.parse(plain.toString('utf8'));
}
