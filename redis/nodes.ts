import type { Link } from './link.ts';

/** The servers behind one description: which of them has a key. */
export type Nodes = {
  /** The server of a key; undefined when nobody is known to have it. */
  readonly linkOf: (key: string) => Link | undefined;
  /** The server that a cluster's `MOVED` or `ASK` reply names; it is remembered for MOVED. */
  readonly redirected: (reply: string) => Link | undefined;
  /** Whether every key has a server that is connected. */
  readonly connected: () => boolean;
  /** Why not. */
  readonly reason: () => string | undefined;
  /** Commands sent that wait. */
  readonly waiting: () => number;
  readonly close: () => void;
};

/** All keys on one server. */
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
