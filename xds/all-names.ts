import { thirdOfHeap } from '#grpc/third-of-heap.ts';

/** What a name takes in the heap, with the tables that it is in [measured]. */
const NAME_BYTES = 100;

/** The names that all streams of a server may make it remember. They take a third of the heap. */
export const mostOfAll = (): number => thirdOfHeap() / NAME_BYTES;

/** Returns how many names take as much memory as so many bytes. */
export function namesLike(bytes: number): number {
  return Math.ceil(bytes / NAME_BYTES);
}

/**
 * Counts the names that the clients of all streams make the server remember. Each stream has a
 * bound of its own, but a client can open many. When all together are too many, the stream with the
 * most has to end. So a client that floods does not displace the others.
 */
export class AllNames<Stream> {
  readonly #most: number;
  readonly #names = new Map<Stream, number>();
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Counts the names of a stream again.
   * @returns the stream that has to end, or undefined when none has to
   */
  count(stream: Stream, names: number): Stream | undefined {
    this.#all += names - (this.#names.get(stream) ?? 0);
    this.#names.set(stream, names);
    return this.#all > this.#most ? this.#largest() : undefined;
  }

  delete(stream: Stream): void {
    this.#all -= this.#names.get(stream) ?? 0;
    this.#names.delete(stream);
  }

  #largest(): Stream | undefined {
    let most = 0;
    let largest: Stream | undefined;
    for (const [stream, names] of this.#names) {
      if (names > most) largest = stream;
      most = Math.max(most, names);
    }
    return largest;
  }
}
