import type { KeyObject } from 'node:crypto';
import { sameText } from '#ext-authz/provider/same-text.ts';
import { type RandomBytes, storeName } from '#ext-authz/store/sealed-record.ts';

/** What makes the states of a Filter. */
export type StateMaker = {
  readonly sealRealm: string;
  readonly storeKey: KeyObject;
  readonly sources: { readonly now: () => number; readonly randomBytes: RandomBytes };
};

/** How long a login may take. */
export const LOGIN_SECONDS = 600;

const TIME_BYTES = 4;
const RANDOM_BYTES = 16;
const MAC_BYTES = 12;
const STATE = /^[A-Za-z0-9_-]{43}$/;

/**
 * Returns a new `state` (RFC 6749 section 10.12), 32 bytes in base64url. They are the time when it
 * was made, 128 random bits, and a MAC over both. The gateway thus recognises it without keeping
 * anything.
 */
export function newState(maker: StateMaker): string {
  const made = Buffer.alloc(TIME_BYTES);
  made.writeUInt32BE(Math.floor(maker.sources.now() / 1000));
  const begin = Buffer.concat([made, maker.sources.randomBytes(RANDOM_BYTES)]);
  return Buffer.concat([begin, Buffer.from(macOf(maker, begin), 'hex')]).toString('base64url');
}

/** Returns whether a state is one of this Filter's, and its login may still go on. */
export function isOpenState(maker: StateMaker, state: string): boolean {
  return leftMs(maker, state) > 0;
}

/**
 * Returns how long the login of a state may still take, in ms. 0 or less when its time is up, or it
 * is not one of this Filter's.
 */
export function leftMs(maker: StateMaker, state: string): number {
  if (!STATE.test(state)) return 0;
  const bytes = Buffer.from(state, 'base64url');
  const begin = bytes.subarray(0, TIME_BYTES + RANDOM_BYTES);
  if (!sameText(macOf(maker, begin), bytes.subarray(begin.length).toString('hex'))) return 0;
  return (begin.readUInt32BE() + LOGIN_SECONDS) * 1000 - maker.sources.now();
}

function macOf({ sealRealm: realm, storeKey }: StateMaker, begin: Buffer): string {
  return storeName(storeKey, { kind: 'state', realm }, [begin.toString('hex')]).slice(
    0,
    2 * MAC_BYTES,
  );
}
