import type { ServerHttp2Stream } from 'node:http2';
import type { AwaitedMessages } from './awaited-messages.ts';
import { MessageReader } from './message-reader.ts';
import { type Failure, failure } from './method.ts';

/** The limits and counts that the calls of one connection share. */
export type CallLimits = {
  readonly maxMessageBytes: number;
  /** For the messages of one connection that have come in part. */
  readonly maxPartialBytes: number;
  readonly awaited: AwaitedMessages;
  partialBytes: number;
};

const TOO_MUCH = failure(
  'RESOURCE_EXHAUSTED',
  'the unfinished messages of this connection are too long',
);

/**
 * Reads the message of a call, and calls `done` when all of the call has come. A failure is
 * reported as soon as it is known, perhaps more than once. A cancelled call is not reported.
 */
export function readMessage(
  stream: ServerHttp2Stream,
  encoding: string,
  limits: CallLimits,
  done: (message: Buffer | Failure) => void,
): void {
  const reader = new MessageReader(limits.maxMessageBytes, encoding);
  const { awaited } = limits;
  let held = 0;
  const hold = (bytes: number) => {
    if (held === 0) stream.once('close', release);
    held += bytes;
    limits.partialBytes += bytes;
    return limits.partialBytes > limits.maxPartialBytes ? TOO_MUCH : undefined;
  };
  const release = () => {
    limits.partialBytes -= held;
  };
  const tell = (message: Buffer | Failure) => {
    awaited.delete(stream);
    done(message);
  };
  awaited.add(stream);
  // 'close' would cost more, because it comes after each call. 'aborted' comes only when nothing
  // was answered.
  stream.on('aborted', () => awaited.delete(stream));
  stream.on('data', (chunk: Buffer) => {
    // Most messages come in one piece, and are not counted.
    const failed = reader.push(chunk) ?? (reader.isWhole ? undefined : hold(chunk.length));
    if (failed !== undefined) tell(failed);
  });
  stream.on('end', () => {
    if (!stream.closed) tell(reader.message());
  });
}
