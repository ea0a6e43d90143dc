import type { ErrorDetail } from './discovery.ts';
import type { Resources } from './snapshot.ts';

/**
 * What a request said about a response of ours. `none`: nothing, it is about the subscription
 * alone, or stale.
 */
export type Verdict =
  | { readonly kind: 'none' }
  | { readonly kind: 'ack'; readonly version: string }
  | {
      readonly kind: 'nack';
      readonly version: string;
      readonly names: readonly string[];
      readonly error: ErrorDetail;
    };

/**
 * Where a client stands on its way to resources that it is to have. `waiting`: a response is in
 * flight; `refused`: it has refused some of these; `settled`: neither, so it has ACKed whatever
 * `respond` found due.
 */
export type Standing = 'waiting' | 'refused' | 'settled';

/**
 * How a response is made: under which nonce, and whether resources that are gone are already
 * reported as removed.
 */
export type Turn = { readonly nonce: string; readonly keep: boolean };

/**
 * One client's subscription to one resource type on one stream: a state machine without I/O or
 * clock, driven by the client's requests and by asking it for the response that is due. It has at
 * most one response in flight, so a snapshot that changes meanwhile replaces what waits; there is
 * never a queue.
 */
export type Subscription<Request, Response> = {
  /** Takes a request of the client. */
  request(request: Request): Verdict;
  /** The response that is due now, if any; it then counts as sent. */
  respond(resources: Resources, turn: Turn): Response | undefined;
  /**
   * `target`: what the client is to have in the end, which may be less than `respond` is given on
   * the way.
   */
  standing(target: Resources): Standing;
  /** Version of the last response. */
  readonly sent: string | undefined;
  /** The one name that it is about; undefined: it is about more, or none. */
  readonly onlyName: string | undefined;
  /** Number of names that it keeps: what a client can make us remember. */
  readonly size: number;
  /** Bytes of these, and of what else the client brought that is kept. */
  readonly bytes: number;
};
