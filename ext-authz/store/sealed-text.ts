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

/** What a text is for, and what else it is bound to. It opens as that and for those alone. */
export type TextScope = SealScope & { readonly boundTo: readonly string[] };

export type OpenedText = {
  readonly value: unknown;
  /** Random bytes of this text, as hexadecimal digits. */
  readonly seed: string;
};

/** Each text has a key of its own, so that no number of them wears a key out. */
const SEED_BYTES = 16;
/** Shorter values gain little, and most are shorter. */
const WORTH_DEFLATING = 512;
const LONGEST_VALUE = 65_536;
const TEXT = /^[A-Za-z0-9_-]+$/;
const [PLAIN, DEFLATED] = [0, 1];

/**
 * Seals a value of JSON for a client to keep, such as a cookie. The store key opens it again. The
 * result is Base64url (RFC 4648 section 5) of a seed and the sealed bytes.
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

/**
 * Opens what `sealText` made.
 * @returns undefined when it was sealed with another key or for something else, or was tampered
 * with
 */
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

/** The text was made by the gateway, because the seal was whole. */
function unpacked(bytes: Buffer): unknown {
  const text = bytes.subarray(1);
  const plain =
    bytes[0] === DEFLATED ? inflateRawSync(text, { maxOutputLength: LONGEST_VALUE }) : text;
  return JSON.parse(plain.toString('utf8'));
}
