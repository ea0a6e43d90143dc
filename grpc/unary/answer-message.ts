import { type Failure, failure, isFailure, type UnaryCall, type UnaryMethod } from './method.ts';

/** Hears of errors that are ours. The caller sees only INTERNAL. */
export type OnError = (error: unknown) => void;

/** Ends a call. Neither method does anything when the call is answered or the caller has gone. */
export type Reply = {
  respond(response: Uint8Array): void;
  refuse(failure: Failure): void;
};

/** The part of a call that its headers tell. */
export type Begun = {
  readonly reply: Reply;
  readonly method: UnaryMethod;
  readonly call: UnaryCall;
  readonly onError: OnError;
};

const INTERNAL = failure('INTERNAL', 'internal error, see the log');
const MALFORMED = failure('INVALID_ARGUMENT', 'the message cannot be read');
const LATE = failure('DEADLINE_EXCEEDED', 'the deadline of the call has passed');
/** The longest time that a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;

/** Answers a call whose message has come, or cannot come. Never throws. */
export function answerMessage(begun: Begun, message: Buffer | Failure): void {
  try {
    const answered = Buffer.isBuffer(message) ? handle(begun, message) : message;
    if (answered instanceof Promise) settle(begun, answered);
    else send(begun, answered);
  } catch (error) {
    fail(begun, error);
  }
}

function handle(
  { method, call }: Begun,
  message: Buffer,
): object | Failure | Promise<object | Failure> {
  const request = method.decode(message);
  return request === undefined ? MALFORMED : method.handle(request, call);
}

/** Sends the answer within the caller's time, or a status that there is none. */
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

function startTimeout({ reply, call: { timeoutMs } }: Begun): NodeJS.Timeout | undefined {
  if (timeoutMs === undefined) return undefined;
  return setTimeout(() => reply.refuse(LATE), Math.min(timeoutMs, LONGEST_MS));
}

function sendOrFail(begun: Begun, answered: object | Failure): void {
  try {
    send(begun, answered);
  } catch (error) {
    fail(begun, error);
  }
}

function send({ reply, method }: Begun, answered: object | Failure): void {
  if (isFailure(answered)) reply.refuse(answered);
  else reply.respond(method.encode(answered));
}

function fail({ reply, onError }: Begun, error: unknown): void {
  reply.refuse(INTERNAL);
  onError(error);
}
