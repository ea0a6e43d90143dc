/** Names that a client makes us remember, and how many bytes they have. */
export class NameSet extends Set<string> {
  #bytes = 0;

  /**
   * Returns a set of these names. The base class cannot: it would count before there is a counter.
   */
  static of(names: Iterable<string>): NameSet {
    const set = new NameSet();
    for (const name of names) set.add(name);
    return set;
  }

  get bytes(): number {
    return this.#bytes;
  }

  override add(name: string): this {
    if (!this.has(name)) this.#bytes += Buffer.byteLength(name);
    return super.add(name);
  }

  override delete(name: string): boolean {
    if (this.has(name)) this.#bytes -= Buffer.byteLength(name);
    return super.delete(name);
  }
}
