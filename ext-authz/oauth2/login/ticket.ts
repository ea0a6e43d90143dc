import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import {
  isUrlSecret,
  newUrlSecret,
  openRecord,
  sealOfSecret,
  sealRecord,
  storeName,
} from '#ext-authz/store/sealed-record.ts';

/** A session on its way from the origin that holds the login to another, sealed by the ticket. */
export type Ticket = {
  /** The id of the hand-off that it answers. */
  readonly handoff: string;
  readonly sessionId: string;
};

const TICKET_MS = 60_000;
/**
 * The limit for one session. Its newest tickets evict its oldest, and those of no other session.
 */
const MOST = 16;

/** Creates a ticket that is valid for 60 s and once. */
export async function createTicket(
  { sealRealm: realm, sources: { randomBytes }, store, storeKey }: LoginFilter,
  ticket: Ticket,
): Promise<string> {
  const secret = newUrlSecret(randomBytes);
  const seal = sealOfSecret(secret, { kind: 'ticket', realm });
  const ofSession = {
    name: storeName(storeKey, { kind: 'tickets', realm }, [ticket.sessionId]),
    most: MOST,
  };
  if (
    !(await store.create(seal.key, sealRecord(seal, ticket, randomBytes), TICKET_MS, [ofSession]))
  )
    throw new Error('a ticket that was not new');
  return secret;
}

/** Takes a ticket. Of several callers one gets it. */
export async function takeTicket(
  { sealRealm: realm, store }: LoginFilter,
  ticket: string,
): Promise<Ticket | undefined> {
  if (!isUrlSecret(ticket)) return undefined;
  const seal = sealOfSecret(ticket, { kind: 'ticket', realm });
  const value = await store.take(seal.key);
  return value && (openRecord(seal, value) as Ticket | undefined);
}
