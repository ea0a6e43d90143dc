import type { HttpRequest } from '../http-request.ts';
import type { SameSite } from '../rule.ts';
import type { RecordGroup } from '../store/record-store.ts';
import {
  isUrlSecret,
  newUrlSecret,
  openRecord,
  sealOfSecret,
  sealRecord,
  storeName,
} from '../store/sealed-record.ts';
import { clientNetwork } from './client-network.ts';
import { PENDING_SECONDS } from './cookies.ts';
import type { LoginFilter } from './login-filter.ts';

/** What a request that needs a login leaves behind. */
export type Wish = {
  /** The origin, as its browser sees it. */
  readonly origin: string;
  readonly returnUrl: string;
  readonly scope: readonly string[];
  /** Hash of the pending cookie. */
  readonly pending: string;
  readonly sameSite?: SameSite;
  readonly sessionCookies: boolean;
  /** Key of the session's record that a step-up ends. */
  readonly replaces?: string;
};

/** A login that goes on at the provider, sealed by its `state`. */
export type Attempt = Wish & {
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The hand-off that it is for. */
  readonly handoff?: string;
};

/** A session on its way from the origin that holds the login to another, sealed by the ticket. */
export type Ticket = { readonly handoff: string; readonly sessionId: string };

type Kind = 'attempt' | 'handoff' | 'ticket';

const TICKET_MS = 60_000;
const MOST = { browser: 16, network: 1_000, gateway: 100_000 } as const;

/** Stores an attempt for ten minutes. Returns its `state`. */
export function createAttempt(filter: LoginFilter, attempt: Attempt, client: Client): Promise<string> {
  return create(filter, 'attempt', attempt, PENDING_SECONDS * 1000, groupsOf(filter, attempt, client));
}

/** Of several callers one gets it (RFC 6749 section 10.12: a state counts once). */
export async function takeAttempt(filter: LoginFilter, state: string): Promise<Attempt | undefined> {
  return (await take(filter, 'attempt', state)) as Attempt | undefined;
}

/** Stores what another origin wishes, for ten minutes. */
export function createHandoff(filter: LoginFilter, wish: Wish, client: Client): Promise<string> {
  return create(filter, 'handoff', wish, PENDING_SECONDS * 1000, groupsOf(filter, wish, client));
}

export async function readHandoff(filter: LoginFilter, id: string): Promise<Wish | undefined> {
  if (!isUrlSecret(id)) return undefined;
  const seal = sealOfSecret(id, { kind: 'handoff', realm: filter.sealRealm });
  const record = await filter.store.read(seal.key);
  return record && (openRecord(seal, record.value) as Wish | undefined);
}

export async function takeHandoff(filter: LoginFilter, id: string): Promise<Wish | undefined> {
  return (await take(filter, 'handoff', id)) as Wish | undefined;
}

/** Valid for 60 s and once. */
export function createTicket(filter: LoginFilter, ticket: Ticket): Promise<string> {
  return create(filter, 'ticket', ticket, TICKET_MS, []);
}

export async function takeTicket(filter: LoginFilter, ticket: string): Promise<Ticket | undefined> {
  return (await take(filter, 'ticket', ticket)) as Ticket | undefined;
}

async function create(
  { sealRealm: realm, sources, store }: LoginFilter,
  kind: Kind,
  value: Attempt | Wish | Ticket,
  ttlMs: number,
  groups: readonly RecordGroup[],
): Promise<string> {
  const secret = newUrlSecret(sources.randomBytes);
  const seal = sealOfSecret(secret, { kind, realm });
  if (!(await store.create(seal.key, sealRecord(seal, value, sources.randomBytes), ttlMs, groups)))
    throw new Error(`a secret of ${kind} that was not new`);
  return secret;
}

async function take({ sealRealm: realm, store }: LoginFilter, kind: Kind, secret: string): Promise<unknown> {
  if (!isUrlSecret(secret)) return undefined;
  const seal = sealOfSecret(secret, { kind, realm });
  const value = await store.take(seal.key);
  return value && openRecord(seal, value);
}

type Client = Pick<HttpRequest, 'clientAddress'>;

/** Pending attempts and hand-offs are bounded three ways. Source: decisions, "OAuth2: login". */
function groupsOf(
  { storeKey }: LoginFilter,
  { pending }: Wish,
  { clientAddress }: Client,
): readonly RecordGroup[] {
  const scope = { kind: 'pending', realm: '' };
  return [
    { name: storeName(storeKey, scope, ['browser', pending]), most: MOST.browser },
    { name: storeName(storeKey, scope, ['network', clientNetwork(clientAddress)]), most: MOST.network },
    { name: storeName(storeKey, scope, ['gateway']), most: MOST.gateway },
  ];
}
