import { status } from '@grpc/grpc-js';
import type { Connection } from '#grpc/http2/connection.ts';
import { PREFIX_BYTES, RESPONSE_FIELDS } from '#grpc/http2/grpc-blocks.ts';
import { encodeFields } from '#grpc/http2/hpack-encode.ts';
import type { RequestReader, Stream } from '#grpc/http2/stream.ts';
import type { KeptBytes } from '#grpc/kept-bytes.ts';
import { answerMessage, type OnError, type Reply } from './answer-message.ts';
import { encodeGrpcMessage } from './grpc-message.ts';
import { MessageReader } from './message-reader.ts';
import { type Failure, failure, type UnaryCall, type UnaryMethod } from './method.ts';

/** The limits and counts that the calls of one connection share. */
export type SharedLimits = {
  readonly maxMessageBytes: number;
  /** For the messages of one connection that have come in part. */
  readonly maxPartialBytes: number;
  partialBytes: number;
  /** What all connections keep of such messages. */
  readonly ofAll: KeptBytes<FramedCall>;
};

const TOO_MUCH = failure(
  'RESOURCE_EXHAUSTED',
  'the unfinished messages of this connection are too long',
);
const TOO_MUCH_OF_ALL = failure(
  'RESOURCE_EXHAUSTED',
  'the unfinished messages of all connections are too long, and this one has waited longest',
);
const SLOW = failure('DEADLINE_EXCEEDED', 'the message of the call did not come in time');
/** The longest message of a status, so that the headers are one frame. */
const MAX_MESSAGE_LENGTH = 800;

/**
 * A unary call on a stream of our own HTTP/2 framing, from the DATA of its message to its answer.
 */
export class FramedCall implements RequestReader, Reply {
  readonly method: UnaryMethod;
  readonly call: UnaryCall;
  readonly onError: OnError;
  readonly #connection: Connection;
  readonly #stream: Stream;
  readonly #limits: SharedLimits;
  #message: MessageReader | undefined;
  #held = 0;
  #isAwaited = true;
  #wasSwept = false;

  constructor(
    connection: Connection,
    stream: Stream,
    method: UnaryMethod,
    call: UnaryCall,
    limits: SharedLimits,
    onError: OnError,
  ) {
    this.#connection = connection;
    this.#stream = stream;
    this.method = method;
    this.call = call;
    this.#limits = limits;
    this.onError = onError;
  }

  get reply(): Reply {
    return this;
  }

  data(bytes: Buffer, isEnd: boolean): boolean {
    if (!this.#isAwaited) return true;
    if (isEnd && this.#message === undefined && isWhole(bytes, this.#limits.maxMessageBytes))
      this.#tell(bytes.subarray(PREFIX_BYTES));
    else this.#push(bytes, isEnd);
    return true;
  }

  end(): void {
    if (this.#isAwaited) this.#tell(this.#reader().message());
  }

  close(): void {
    this.#isAwaited = false;
    if (this.#held > 0) this.#limits.ofAll.drop(this);
    this.#limits.partialBytes -= this.#held;
    this.#held = 0;
  }

  /** Refuses a call whose message has not come since the last sweep. */
  sweep(): void {
    if (this.#isAwaited && this.#wasSwept) this.#tell(SLOW);
    this.#wasSwept = true;
  }

  /** Refuses a call, so that nothing is kept of its message. */
  giveUp(): void {
    if (this.#isAwaited) this.#tell(TOO_MUCH_OF_ALL);
  }

  respond(response: Uint8Array): void {
    this.#connection.session.streams.sender.respond(this.#stream, response);
    this.#connection.wrote();
  }

  refuse(failed: Failure): void {
    refuseStream(this.#connection, this.#stream, failed);
  }

  /** Copies what waits, so that it does not keep all that came with it. */
  #push(bytes: Buffer, isEnd: boolean): void {
    const reader = this.#reader();
    const failed =
      reader.push(isEnd ? bytes : Buffer.from(bytes)) ?? this.#hold(isEnd ? 0 : bytes.length);
    if (failed !== undefined) this.#tell(failed);
    else if (isEnd) this.end();
  }

  #hold(bytes: number): Failure | undefined {
    this.#held += bytes;
    this.#limits.partialBytes += bytes;
    this.#limits.ofAll.set(this, this.#held);
    return this.#limits.partialBytes > this.#limits.maxPartialBytes ? TOO_MUCH : undefined;
  }

  #tell(message: Buffer | Failure): void {
    this.#isAwaited = false;
    this.#message = undefined;
    if (this.#held > 0) this.#limits.ofAll.drop(this);
    answerMessage(this, message);
  }

  #reader(): MessageReader {
    this.#message ??= new MessageReader(
      this.#limits.maxMessageBytes,
      this.call.metadata('grpc-encoding'),
    );
    return this.#message;
  }
}

/** Tells whether the bytes are one message, uncompressed and of an allowed length. */
function isWhole(bytes: Buffer, maxBytes: number): boolean {
  const length = bytes.length - PREFIX_BYTES;
  return length >= 0 && length <= maxBytes && bytes[0] === 0 && bytes.readUInt32BE(1) === length;
}

/** Ends a call with a status and no response. Source: gRPC over HTTP2, "Trailers-Only". */
export function refuseStream(
  connection: Connection,
  stream: Stream,
  { failed, message }: Failure,
): void {
  const text = encodeGrpcMessage(message.slice(0, MAX_MESSAGE_LENGTH));
  const fields = [
    ...RESPONSE_FIELDS,
    ['grpc-accept-encoding', 'identity'],
    ['grpc-status', String(status[failed])],
    ['grpc-message', text],
  ] as const;
  connection.session.streams.sender.refuse(stream, encodeFields(fields));
  connection.wrote();
}
