import { randomBytes } from 'node:crypto';
import { until } from '#redis/testing/until.ts';
import type { RecordStore } from '../record-store.ts';

/** Two replicas on one store. */
export type TestStores = {
  readonly one: RecordStore;
  readonly two: RecordStore;
  /** Lets time go by where the test sets the store's clock. Elsewhere time goes by itself. */
  readonly pass: (ms: number) => void;
  /** Returns all that a thief of the store finds. */
  readonly dump: () => Promise<Buffer>;
  readonly close: () => Promise<void>;
};

export const MINUTE = 60_000;
/** Short, for what ends in the test, but long enough for a few calls before. */
export const SHORT = 150;

export function freshKey(): string {
  return randomBytes(32).toString('hex');
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function textOf(value: Uint8Array | undefined): string | undefined {
  return value && new TextDecoder().decode(value);
}

/** Time goes by until it holds. */
export async function eventually(
  { pass }: TestStores,
  what: string,
  holds: () => Promise<boolean>,
  ms?: number,
): Promise<void> {
  const look = async () => {
    pass(20);
    return holds();
  };
  await until(what, look, ms);
}

/** As many calls at once, in turn by both replicas. */
export function together<T>(
  { one, two }: TestStores,
  calls: number,
  call: (store: RecordStore, index: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(
    Array.from({ length: calls }, (_, index) => call(index % 2 === 0 ? one : two, index)),
  );
}
