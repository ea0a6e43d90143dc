import { leftMs, type StateMaker } from '#ext-authz/oauth2/session/state.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { sealOfSecret } from '#ext-authz/store/sealed-record.ts';

type Spending = StateMaker & { readonly store: RecordStore };

/** A replica whose clock is so far behind still finds the record. */
const SKEW_MS = 60_000;
const SPENT = Uint8Array.of(1);

/**
 * Spends a state. Of several callers one gets `true`. The record lives until the state ends by
 * itself. Nothing is evicted to make room, so no state counts twice and none is refused for want of
 * room. Only logins that the provider has granted leave a record for longer than their callback
 * takes (`unspend`). Each of those leaves a session, which is larger and lives longer.
 */
export function spend(filter: Spending, state: string): Promise<boolean> {
  return filter.store.create(keyOf(filter, state), SPENT, leftMs(filter, state) + SKEW_MS);
}

/** Gives a state back, because its login has failed. */
export async function unspend(filter: Spending, state: string): Promise<void> {
  await filter.store.remove(keyOf(filter, state));
}

export async function isSpent(filter: Spending, state: string): Promise<boolean> {
  return (await filter.store.read(keyOf(filter, state))) !== undefined;
}

function keyOf({ sealRealm: realm }: Spending, state: string): string {
  return sealOfSecret(state, { kind: 'state', realm }).key;
}
