/** Names that a client makes the server remember, with the sum of their bytes. */
export class NameSet extends Set<string> {
  #bytes = 0;

  /**
   * Returns a set of these names. The base constructor cannot fill it, because the byte counter
   * does not exist yet at that time.
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
