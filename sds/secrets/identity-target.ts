import type { TlsMaterial } from '#certificates/tls-material.ts';

/** What is kept, and the mark by which the next write knows that nobody else wrote since. */
export type KeptIdentity = { readonly material: TlsMaterial; readonly mark: string };

/** Where the identity of a group is kept for a process that needs it before it can ask for it. */
export type IdentityTarget = {
  /** In words for messages. */
  readonly place: string;
  /** Undefined: nothing that could be used. */
  read(): Promise<KeptIdentity | undefined>;
  /** False: somebody else was faster, and nothing was written. */
  write(material: TlsMaterial, mark: string | undefined): Promise<boolean>;
};
