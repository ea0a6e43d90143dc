/**
 * Finds streams by the one name that each is about. So a change of a few names need not visit every
 * stream. An Envoy has one such stream for each cluster.
 */
export class StreamsByName<Stream> {
  readonly #names = new Map<Stream, string | undefined>();
  readonly #streams = new Map<string | undefined, Set<Stream>>();

  get size(): number {
    return this.#names.size;
  }

  get all(): Iterable<Stream> {
    return this.#names.keys();
  }

  /** Places or moves a stream. Undefined means that any name may concern it. */
  place(stream: Stream, name: string | undefined): void {
    if (this.#names.has(stream) && this.#names.get(stream) === name) return;
    this.remove(stream);
    this.#names.set(stream, name);
    const streams = this.#streams.get(name) ?? new Set();
    this.#streams.set(name, streams.add(stream));
  }

  remove(stream: Stream): void {
    const name = this.#names.get(stream);
    const streams = this.#streams.get(name);
    streams?.delete(stream);
    if (streams?.size === 0) this.#streams.delete(name);
    this.#names.delete(stream);
  }

  concernedBy(names: readonly string[]): readonly Stream[] {
    return [undefined, ...names].flatMap(name => [...(this.#streams.get(name) ?? [])]);
  }
}
