import { decodeAny } from '#protos/decode.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import type { Update } from '#xds/client-subscription.ts';
import { MOST_OUTCOMES, type OrderOutcome } from './order-outcomes.ts';

/** What an operator asks of a service at once: `gateway.config.v1.Order`. */
export type Order =
  | { readonly drain: { readonly address: string; readonly port: number } }
  | { readonly counterReset: { readonly domain: string; readonly labels: readonly OrderLabel[] } }
  | { readonly sessionEnd: { readonly filter: string; readonly user: string } }
  | { readonly certificateRenewal: CertificateRenewal };

/**
 * An empty `serial` stands for no certificate. Without one, the certificate that is kept when the
 * first process takes the order is replaced.
 */
export type CertificateRenewal = {
  readonly hostname: string;
  readonly serial?: string;
  readonly revoke: boolean;
};

type OrderLabel = { readonly key: string; readonly value: string };

/**
 * Does what is ordered. Each function returns in a few words what was done. It throws or rejects
 * with an Error that says why it could not be done, without secrets.
 */
export type OrderTaker = {
  given(name: string, order: Order): string | Promise<string>;
  /** @returns undefined when nothing ends with the order */
  withdrawn?(name: string): string | undefined;
  /** Called when it has been told of all orders that there are now, perhaps of none. */
  allKnown?(): void;
};

/** Takes orders, and remembers what became of them. */
export class TakenOrders {
  readonly #taker: OrderTaker;
  readonly #changed: () => void;
  readonly #outcomes = new Map<string, OrderOutcome>();

  /** `changed` is called when there is another outcome to tell. */
  constructor(taker: OrderTaker, changed: () => void) {
    this.#taker = taker;
    this.#changed = changed;
  }

  /** Returns what became of the newest orders. One that has lasted and ended stays among them. */
  get outcomes(): readonly OrderOutcome[] {
    return [...this.#outcomes.values()];
  }

  /** Takes an update of orders, which is never rejected. */
  readonly take = (update: Update): void => {
    for (const name of update.removed) this.#withdrawn(name);
    for (const { any, name } of update.changed) void this.#given(name, () => decodeAny(any));
    if (update.complete) this.#taker.allKnown?.();
    update.ack();
  };

  async #given(name: string, decode: () => JsonObject): Promise<void> {
    const told = { order: name, withdrawn: false };
    try {
      this.#tell({ ...told, failed: false, text: await this.#taker.given(name, read(decode)) });
    } catch (error) {
      const text = error instanceof Error ? error.message : 'it failed';
      this.#tell({ ...told, failed: true, text });
    }
  }

  #withdrawn(name: string): void {
    const text = this.#taker.withdrawn?.(name);
    if (text !== undefined) this.#tell({ order: name, withdrawn: true, failed: false, text });
    else if (this.#outcomes.delete(name)) this.#changed();
  }

  #tell(outcome: OrderOutcome): void {
    this.#outcomes.delete(outcome.order);
    this.#outcomes.set(outcome.order, outcome);
    const [oldest] = this.#outcomes.keys();
    if (oldest !== undefined && this.#outcomes.size > MOST_OUTCOMES) this.#outcomes.delete(oldest);
    this.#changed();
  }
}

function read(decode: () => JsonObject): Order {
  try {
    const order = toOrder(decode());
    if (order !== undefined) return order;
  } catch {}
  throw new Error('it cannot read this order. Is it of an earlier version?');
}

function toOrder(json: JsonObject): Order | undefined {
  const { certificate_renewal, counter_reset, drain, session_end } = json;
  if (isJsonObject(certificate_renewal ?? null)) {
    const { hostname, revoke, serial } = certificate_renewal as JsonObject;
    const asked = { hostname: String(hostname ?? ''), revoke: revoke === true };
    const one = typeof serial === 'string' && { serial };
    return { certificateRenewal: { ...asked, ...one } };
  }
  if (isJsonObject(drain ?? null)) {
    const { address, port } = drain as JsonObject;
    return { drain: { address: String(address ?? ''), port: Number(port ?? 0) } };
  }
  if (isJsonObject(counter_reset ?? null)) {
    const { domain, labels } = counter_reset as JsonObject;
    const all = objectsIn(labels).map(({ key, value }) => ({
      key: String(key ?? ''),
      value: String(value ?? ''),
    }));
    return { counterReset: { domain: String(domain ?? ''), labels: all } };
  }
  if (isJsonObject(session_end ?? null)) {
    const { filter, user } = session_end as JsonObject;
    return { sessionEnd: { filter: String(filter ?? ''), user: String(user ?? '') } };
  }
  return undefined;
}
