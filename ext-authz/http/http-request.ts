/** Header fields by lower-case name, each with its values in the order in which they came. */
export type HeaderFields = ReadonlyMap<string, readonly string[]>;

/** A client's request as Envoy shows it, before any filter. */
export type HttpRequest = {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /**
   * `:authority` in lower case, without trailing dot, with the port when it is not the scheme's
   * own.
   */
  readonly authority: string;
  /** Path and query, as the listener normalised them. */
  readonly target: string;
  readonly headers: HeaderFields;
  /** Only where the route sends it (logout): the first 8,193 bytes. */
  readonly body: Uint8Array;
  /** The client's IP address, as trusted hops tell it. */
  readonly clientAddress: string;
  /** Envoy's `x-request-id`. */
  readonly id: string;
};
