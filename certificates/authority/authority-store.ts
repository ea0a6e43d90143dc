/**
 * The text of the authority's roots, keys included. `mark` tells the next write whether another
 * process has written since.
 */
export type Stored = { readonly text: string; readonly mark: string };

/**
 * Where the authority keeps its roots. Several processes may share it, and the first write wins.
 */
export type AuthorityStore = {
  /** The place in words, for messages. */
  readonly place: string;
  /**
   * Reads the roots.
   * @returns undefined when there are none yet
   */
  read(): Promise<Stored | undefined>;
  /**
   * Replaces what `read` returned with this mark. An undefined mark means that there was nothing.
   * @returns false when another process was faster, and then nothing was written
   */
  write(text: string, mark: string | undefined): Promise<boolean>;
};
