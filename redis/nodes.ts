import type { Link } from './link.ts';

/** The servers behind one description, found by key. */
export type Nodes = {
  /**
   * Returns the server of a key.
   * @returns undefined when no server is known to have it
   */
  readonly linkOf: (key: string) => Link | undefined;
  /** Returns the server that a cluster's `MOVED` or `ASK` reply names. MOVED is remembered. */
  readonly redirected: (reply: string) => Link | undefined;
  /** Whether every key has a server that is connected. */
  readonly connected: () => boolean;
  /** Returns why it is not connected. */
  readonly reason: () => string | undefined;
  /** Commands that were sent and wait. */
  readonly waiting: () => number;
  readonly close: () => void;
};

/** Puts all keys on one server. */
export function oneNode(link: Link, close: () => void): Nodes {
  return {
    linkOf: () => link,
    redirected: () => undefined,
    connected: () => link.connected,
    reason: () => link.reason,
    waiting: () => link.waiting,
    close,
  };
}
