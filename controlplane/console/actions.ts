import { isIP } from 'node:net';
import { EXT_AUTHZ, RATELIMIT_SERVICE, SDS } from '#controlplane/compile/node-groups.ts';
import type { ServiceAnswer } from '#controlplane/orders/order-answers.ts';
import type { Orders } from '#controlplane/orders/orders.ts';
import { type DrainFacts, doubtOfDrain } from './drain-doubt.ts';

/** What gives the orders. */
export type OrderGiver = Pick<Orders, 'do' | 'drain' | 'share'>;

/** An action as it is asked for: what is logged of it, and how it is done. */
export type Action = {
  /** Without the values of labels, which are what clients sent. */
  readonly logged: object;
  /**
   * Says what speaks against it, so that it must be confirmed once more. Rejects with why it cannot
   * be done at all.
   */
  doubt?(facts: DrainFacts): Promise<string | undefined>;
  /** Tells the other control planes first. Rejects when they cannot be told. */
  share?(orders: OrderGiver): Promise<void>;
  /** Orders it at once. Resolves with what the service answers. */
  run(orders: OrderGiver): Promise<readonly ServiceAnswer[]>;
};

type Read = (body: Readonly<Record<string, unknown>>) => Action;

const MOST_LABELS = 20;
const LONGEST = 1_000;

/** The only actions of the console, by name. Each throws an Error that says what is wrong. */
export const ACTIONS: Readonly<Record<string, Read>> = {
  'end-sessions': ({ filter, user }) => {
    const order = { filter: textOf('filter', filter), user: textOf('user', user) };
    return {
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
      logged: { domain: order.domain, keys: all.map(({ key }) => key) },
      run: orders => orders.do(RATELIMIT_SERVICE, { counter_reset: order }),
    };
  },
  'renew-certificate': ({ hostname, revoke, serial }) => {
    if (typeof revoke !== 'boolean') throw new Error('want `revoke`: true or false');
    const order = {
      hostname: textOf('hostname', hostname),
      ...(serial !== undefined && { serial: textOf('serial', serial, true) }),
      revoke,
    };
    return { logged: order, run: orders => orders.do(SDS, { certificate_renewal: order }) };
  },
  drain: ({ address, drained, port }) => {
    if (typeof address !== 'string' || isIP(address) === 0)
      throw new Error('want the IP address of an instance');
    if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error('want a port from 1 to 65535');
    if (typeof drained !== 'boolean') throw new Error('want `drained`: true or false');
    return {
      logged: { address, port, drained },
      ...(drained && { doubt: (facts: DrainFacts) => doubtOfDrain({ address, port }, facts) }),
      share: orders => orders.share({ address, port }, drained),
      run: orders => orders.drain(SDS, { address, port }, drained),
    };
  },
};

function textOf(what: string, value: unknown, mayBeEmpty = false): string {
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) throw new Error(`want a ${what}`);
  if (value.length > LONGEST) throw new Error(`the ${what} has more than ${LONGEST} characters`);
  return value.toWellFormed();
}
