import type { Eventually } from '#process/eventually.ts';

/** What is told of a span. A key `error.type` says that what it is about has failed. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type SpanStart = {
  /** One of few names. What clients send makes no name. */
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly attributes: SpanAttributes;
  /**
   * Returns a header of the caller, or '' when it is absent. Without this the span belongs to the
   * one that runs.
   */
  readonly caller?: (name: string) => string;
};

/** Spans of this process. No query, cookie, token or credential is among their attributes. */
export type Traces = {
  /**
   * Runs `work` in a span, which ends with it. `ended` tells of the result. Throws and rejects as
   * `work` does.
   */
  span<T>(
    start: SpanStart,
    work: () => Eventually<T>,
    ended?: (result: T) => SpanAttributes,
  ): Eventually<T>;
  /** Tells more of the span that runs. */
  annotate(attributes: SpanAttributes): void;
  /** Sends what waits, within bounded time. */
  close(): Promise<void>;
};
