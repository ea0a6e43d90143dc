/**
 * Header fields by lower-case name, each with its values in the order in which they were received.
 */
export type HeaderFields = ReadonlyMap<string, readonly string[]>;

/** A client's request as Envoy shows it, before any filter. */
export type HttpRequest = {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /**
   * `:authority` in lower case, without a trailing dot. It has the port when that is not the
   * scheme's default.
   */
  readonly authority: string;
  /** Path and query, as the listener normalised them. */
  readonly target: string;
  readonly headers: HeaderFields;
  /** The first 8,193 bytes, only where the route sends it (logout). */
  readonly body: Uint8Array;
  /** The client's IP address, as trusted hops give it. */
  readonly clientAddress: string;
  /** The rule of the route that it took, where that names Filters. Only Envoy can say so. */
  readonly routeRule?: string;
  /**
   * The rule is that of a listener, and the route is yet to be chosen. The request is asked about
   * again then, and is settled there. Only Envoy can say so.
   */
  readonly beforeRoute?: true;
  /** Envoy's `x-request-id`. */
  readonly id: string;
};
