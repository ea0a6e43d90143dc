/** More streams than a peer may have open, even if it knows of none that it is closed. */
const MAX_KEPT = 4_096;

/**
 * Streams that we have ended while the peer may still send on them, which is no mistake. Source:
 * RFC 9113, section 5.1, "closed".
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

  /**
   * Forgets a stream that the peer has ended too.
   * @returns false when the stream was none of these
   */
  delete(id: number): boolean {
    return this.#ids.delete(id);
  }
}
