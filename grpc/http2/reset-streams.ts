/** More than a peer may have open, none of which it may know to be closed. */
const MAX_KEPT = 4_096;

/**
 * Streams that we have ended while the peer may still send on them, which is no mistake of its.
 * Source: RFC 9113, section 5.1, "closed".
 */
export class ResetStreams {
  readonly #ids = new Set<number>();

  add(id: number): void {
    this.#ids.add(id);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= MAX_KEPT) break;
      this.#ids.delete(oldest);
    }
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  /** The peer has ended it too; false: it was none of them. */
  delete(id: number): boolean {
    return this.#ids.delete(id);
  }
}
