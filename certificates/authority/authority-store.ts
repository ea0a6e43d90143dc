/**
 * The text of the authority's roots, keys included, and the mark by which the next write knows that
 * nobody else wrote since.
 */
export type Stored = { readonly text: string; readonly mark: string };

/**
 * Where the authority keeps its roots. Several processes may share it: whoever writes first wins.
 */
export type AuthorityStore = {
  /** Where that is, in words for messages. */
  readonly place: string;
  /** Undefined: there are none yet. */
  read(): Promise<Stored | undefined>;
  /**
   * Replaces what `read` gave with this mark (undefined: there was nothing). False: somebody else
   * was faster, and nothing was written.
   */
  write(text: string, mark: string | undefined): Promise<boolean>;
};
