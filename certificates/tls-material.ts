/** What a process needs to speak mutual TLS, each PEM. */
export type TlsMaterial = {
  /** The process's own certificate, then those that lead to its root. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities that peers are checked against. */
  readonly ca: string;
};
