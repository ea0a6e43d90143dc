import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { readCall } from './check-headers.ts';
import { type Failure, failure, isFailure, type UnaryCall, type UnaryMethod } from './method.ts';
import { type CallLimits, readMessage } from './read-message.ts';
import { refuse, respond } from './respond.ts';

/** Hears of mistakes of ours, whose callers see INTERNAL alone. */
export type OnError = (error: unknown) => void;

/** A call as far as its headers tell it. */
type Begun = {
  readonly stream: ServerHttp2Stream;
  readonly method: UnaryMethod;
  readonly call: UnaryCall;
  readonly onError: OnError;
};

const INTERNAL = failure('INTERNAL', 'internal error, see the log');
const MALFORMED = failure('INVALID_ARGUMENT', 'the message cannot be read');
const LATE = failure('DEADLINE_EXCEEDED', 'the time of the call is over');
/** The longest time that a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;

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
  const begun = { stream, method, call, onError };
  readMessage(stream, call.metadata('grpc-encoding'), limits, message => answer(begun, message));
}

function answer(begun: Begun, message: Buffer | Failure): void {
  try {
    const answered = isFailure(message) ? message : handle(begun, message);
    if (answered instanceof Promise) settle(begun, answered);
    else send(begun, answered);
  } catch (error) {
    fail(begun, error);
  }
}

function handle({ method, call }: Begun, message: Buffer): object | Failure | Promise<object | Failure> {
  const request = method.decode(message);
  return request === undefined ? MALFORMED : method.handle(request, call);
}

/** The caller has the answer within its time, or learns that there is none. */
function settle(begun: Begun, answered: Promise<object | Failure>): void {
  const timer = startTimeout(begun);
  answered.then(
    late => {
      clearTimeout(timer);
      sendOrFail(begun, late);
    },
    (error: unknown) => {
      clearTimeout(timer);
      fail(begun, error);
    },
  );
}

function startTimeout({ stream, call: { timeoutMs } }: Begun): NodeJS.Timeout | undefined {
  if (timeoutMs === undefined) return undefined;
  return setTimeout(refuse, Math.min(timeoutMs, LONGEST_MS), stream, LATE);
}

function sendOrFail(begun: Begun, answered: object | Failure): void {
  try {
    send(begun, answered);
  } catch (error) {
    fail(begun, error);
  }
}

function send({ stream, method }: Begun, answered: object | Failure): void {
  if (isFailure(answered)) refuse(stream, answered);
  else respond(stream, method.encode(answered));
}

function fail({ stream, onError }: Begun, error: unknown): void {
  refuse(stream, INTERNAL);
  onError(error);
}
