import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { answerMessage, type OnError, type Reply } from './answer-message.ts';
import { readCall } from './check-headers.ts';
import { type Failure, isFailure, type UnaryMethod } from './method.ts';
import { type CallLimits, readMessage } from './read-message.ts';
import { refuse, respond } from './respond.ts';

/** Answers a call on its stream, when all of it has come. Never throws. */
export function answerCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  method: UnaryMethod,
  limits: CallLimits,
  onError: OnError,
): void {
  const call = readCall(headers);
  if (isFailure(call)) {
    refuse(stream, call);
    return;
  }
  const begun = { reply: new StreamReply(stream), method, call, onError };
  readMessage(stream, call.metadata('grpc-encoding'), limits, message =>
    answerMessage(begun, message),
  );
}

class StreamReply implements Reply {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  respond(response: Uint8Array): void {
    respond(this.#stream, response);
  }

  refuse(failure: Failure): void {
    refuse(this.#stream, failure);
  }
}
