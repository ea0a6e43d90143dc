/**
 * The API cannot be used, or has refused a request. The message names server and reason, and never
 * a token.
 */
export class ClusterError extends Error {
  /** The status of HTTP, or of the event that ended a watch. Absent when there was no answer. */
  readonly status: number | undefined;
  /** How long the API asks to wait before it is asked again, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    status?: number,
    options?: ErrorOptions & { readonly retryAfterMs?: number | undefined },
  ) {
    super(message, options);
    this.name = 'ClusterError';
    this.status = status;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** Returns the message of an answer of the API (kind Status), cut where it is long. */
export function statusMessage(body: unknown): string {
  const message =
    typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined;
  return typeof message === 'string' ? message.slice(0, 500) : 'no message';
}
