import { decodeAny } from '#protos/decode.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import type { Update } from '#xds/client-subscription.ts';

/** What an operator asks of a service at once: `gateway.config.v1.Order`. */
export type Order =
  | { readonly drain: { readonly address: string; readonly port: number } }
  | { readonly counterReset: { readonly domain: string; readonly labels: readonly OrderLabel[] } }
  | { readonly sessionEnd: { readonly filter: string; readonly user: string } };

type OrderLabel = { readonly key: string; readonly value: string };

/** Hears of orders. An order that it does not know is for another service. */
export type OrderTaker = {
  given(name: string, order: Order): void;
  withdrawn?(name: string): void;
};

/** Returns what takes an update of orders. Orders never fail: what cannot be read is left out. */
export function takeOrders({ given, withdrawn }: OrderTaker): (update: Update) => void {
  return update => {
    for (const name of update.removed) withdrawn?.(name);
    for (const { any, name } of update.changed) {
      const order = read(() => decodeAny(any));
      if (order !== undefined) given(name, order);
    }
    update.ack();
  };
}

function read(decode: () => JsonObject): Order | undefined {
  try {
    return toOrder(decode());
  } catch {
    return undefined;
  }
}

function toOrder({ counter_reset, drain, session_end }: JsonObject): Order | undefined {
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
