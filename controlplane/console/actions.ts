import { isIP } from 'node:net';
import { EXT_AUTHZ, RATELIMIT_SERVICE, SDS } from '#controlplane/compile/node-groups.ts';
import type { Drained } from '#controlplane/orders/drained-store.ts';
import type { JsonObject } from '#protos/json.ts';

/** What gives the orders. */
export type OrderGiver = {
  do(group: string, order: JsonObject): void;
  drain(group: string, instance: Drained, isDrained: boolean): void;
};

/** An action as it is asked for: what is logged of it, and how it is done. */
export type Action = {
  readonly service: string;
  /** Without the values of labels, which are what clients sent. */
  readonly logged: object;
  run(orders: OrderGiver): void;
};

type Read = (body: Readonly<Record<string, unknown>>) => Action;

const MOST_LABELS = 20;
const LONGEST = 1_000;

/** The only actions of the console, by name. Each throws an Error that says what is wrong. */
export const ACTIONS: Readonly<Record<string, Read>> = {
  'end-sessions': ({ filter, user }) => {
    const order = { filter: textOf('filter', filter), user: textOf('user', user) };
    return {
      service: EXT_AUTHZ,
      logged: order,
      run: orders => orders.do(EXT_AUTHZ, { session_end: order }),
    };
  },
  'reset-counter': ({ domain, labels }) => {
    if (!Array.isArray(labels) || labels.length === 0 || labels.length > MOST_LABELS)
      throw new Error(`want 1 to ${MOST_LABELS} labels`);
    const all = labels.map(label => ({
      key: textOf('key', label?.key),
      value: textOf('value', label?.value, true),
    }));
    const order = { domain: textOf('domain', domain), labels: all };
    return {
      service: RATELIMIT_SERVICE,
      logged: { domain: order.domain, keys: all.map(({ key }) => key) },
      run: orders => orders.do(RATELIMIT_SERVICE, { counter_reset: order }),
    };
  },
  drain: ({ address, drained, port }) => {
    if (typeof address !== 'string' || isIP(address) === 0)
      throw new Error('want the IP address of an instance');
    if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error('want a port from 1 to 65535');
    if (typeof drained !== 'boolean') throw new Error('want `drained`: true or false');
    return {
      service: SDS,
      logged: { address, port, drained },
      run: orders => orders.drain(SDS, { address, port }, drained),
    };
  },
};

function textOf(what: string, value: unknown, mayBeEmpty = false): string {
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) throw new Error(`want a ${what}`);
  if (value.length > LONGEST) throw new Error(`the ${what} has more than ${LONGEST} characters`);
  return value.toWellFormed();
}
