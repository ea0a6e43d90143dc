import type { ErrorDetail } from './discovery.ts';
import type { Resources } from './snapshot.ts';

/**
 * What a request said about a response. `none` means nothing: the request is stale, or is about the
 * subscription alone.
 */
export type AckVerdict =
  | { readonly kind: 'none' }
  | { readonly kind: 'ack'; readonly version: string }
  | {
      readonly kind: 'nack';
      readonly version: string;
      readonly names: readonly string[];
      readonly error: ErrorDetail;
    };

/**
 * How far a client has ACKed the resources that it is to have.
 * - `waiting`: a response is in flight.
 * - `rejected`: the client has rejected some of these.
 * - `settled`: neither, so it has ACKed all that `respond` found due.
 */
export type AckState = 'waiting' | 'rejected' | 'settled';

/**
 * How a response is made: its nonce, and whether removed resources are reported yet. `keeps` says
 * of which names no removal is reported in any case.
 */
export type Turn = {
  readonly nonce: string;
  readonly keep: boolean;
  keeps?(name: string): boolean;
};

/**
 * One client's subscription to one resource type on one stream. It is a state machine without I/O
 * or clock. The client's requests drive it, and so do calls that ask for the response that is due.
 * At most one response is in flight. A snapshot that changes meanwhile replaces the one that waits,
 * so there is never a queue.
 */
export type Subscription<Request, Response> = {
  /** Takes a request of the client. */
  request(request: Request): AckVerdict;
  /** Returns the response that is due now, if any. It then counts as sent. */
  respond(resources: Resources, turn: Turn): Response | undefined;
  /** `target` is what the client is to have in the end. On the way `respond` may be given more. */
  standing(target: Resources): AckState;
  /**
   * Returns what the client knows of a name that it subscribes to: it asked for it, or has ACKed it
   * and nothing newer is in flight.
   */
  knows(name: string): 'asked' | 'acked' | undefined;
  /** The client may have forgotten what it held of these names, so they are answered again. */
  repeat(concerns: (name: string) => boolean): void;
  /** What the client rejected may be sent again unchanged, once. */
  retry(): void;
  /** Version of the last response. */
  readonly sent: string | undefined;
  /** The only name that it is about. Undefined when it is about more, or none. */
  readonly onlyName: string | undefined;
  /** Number of names that a client makes the server remember. */
  readonly size: number;
  /** Number of names beside these that it brought from an earlier stream, and that are kept. */
  readonly brought: number;
  /** Bytes of these names, and of what else the client brought that is kept. */
  readonly bytes: number;
};
