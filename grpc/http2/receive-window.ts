/**
 * Counts how much a peer may send us. The window opens again when half of it was read. Source: RFC
 * 9113, section 5.2.
 */
export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  #read = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /**
   * Counts what came.
   * @returns false when it was more than allowed
   */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Counts what was read. Returns by how much the window opens again, mostly 0. */
  read(bytes: number): number {
    this.#read += bytes;
    if (this.#read * 2 < this.#size) return 0;
    const opened = this.#read;
    this.#left += opened;
    this.#read = 0;
    return opened;
  }
}
