import type { Rate } from '#grpc/http2/budget.ts';
import type { KeepAlive } from '#grpc/http2/connection.ts';
import type { OnError } from './answer-message.ts';
import type { UnaryMethod } from './method.ts';
import type { AnswerParts } from './reflection-stream.ts';

/**
 * More streams at once, header bytes and header fields than the calls of any proxy have. An edge
 * takes 60 KiB of headers, and those of a trace come with its calls.
 */
export const MAX_STREAMS = 1_024;
export const MAX_HEADER_BYTES = 64 * 1_024;
export const MAX_HEADERS = 128;

export type UnaryLimits = {
  readonly maxMessageBytes: number;
  /** For the messages of one connection that have come in part. */
  readonly maxPartialBytes: number;
  /**
   * For these messages of all connections together, and once more for the answers that their peers
   * have not taken.
   */
  readonly maxKeptBytes: number;
  /**
   * A call is refused when its message has not come whole after this time, at the latest after
   * twice as much.
   */
  readonly messageMs: number;
  /**
   * Connections of the port. Each costs some 20 KiB, and more with TLS. Envoy has one for each of
   * its workers.
   */
  readonly maxConnections: number;
  readonly keepAlive: KeepAlive;
  /** Streams that a peer may reset. */
  readonly resets: Rate;
};

/** What a server answers, by path, and its limits. */
export type Answering = {
  readonly methods: ReadonlyMap<string, UnaryMethod>;
  readonly streams: ReadonlyMap<string, AnswerParts>;
  readonly limits: UnaryLimits;
  readonly onError: OnError;
};
