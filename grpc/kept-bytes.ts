/**
 * Bounds the bytes that are kept for peers together. When it is too much, `end` is called for the
 * one for which something has been kept longest, until the rest is within the bound. A peer that
 * goes on is done in some milliseconds, and so one that waits does not keep others out.
 */
export class KeptBytes<Peer> {
  readonly #most: number;
  readonly #end: (peer: Peer) => void;
  /** In the order in which something began to be kept. */
  readonly #kept = new Map<Peer, number>();
  #total = 0;

  constructor(most: number, end: (peer: Peer) => void) {
    this.#most = most;
    this.#end = end;
  }

  add(peer: Peer, bytes: number): void {
    this.set(peer, (this.#kept.get(peer) ?? 0) + bytes);
  }

  /** Sets all that is kept for a peer. */
  set(peer: Peer, bytes: number): void {
    this.#total += bytes - (this.#kept.get(peer) ?? 0);
    if (bytes === 0) this.#kept.delete(peer);
    else this.#kept.set(peer, bytes);
    for (const [oldest] of this.#kept) {
      if (this.#total <= this.#most) return;
      this.drop(oldest);
      this.#end(oldest);
    }
  }

  /** Nothing is kept for a peer any more. */
  drop(peer: Peer): void {
    this.set(peer, 0);
  }
}
