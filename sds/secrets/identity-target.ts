import type { TlsMaterial } from '#certificates/tls-material.ts';

/** A kept identity. `mark` tells the next write whether another process has written since. */
export type KeptIdentity = { readonly material: TlsMaterial; readonly mark: string };

/** Where the identity of a group is kept for a process that needs it before it can ask for it. */
export type IdentityTarget = {
  /** The place in words, for messages. */
  readonly place: string;
  /**
   * Reads the identity.
   * @returns undefined when nothing usable is there
   */
  read(): Promise<KeptIdentity | undefined>;
  /**
   * Writes the identity.
   * @returns false when another process was faster, and then nothing was written
   */
  write(material: TlsMaterial, mark: string | undefined): Promise<boolean>;
};
