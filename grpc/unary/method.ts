import type { status } from '@grpc/grpc-js';

/** Why a call has no response, as a gRPC status; the message goes to whoever called. */
export type Failure = {
  readonly failed: Exclude<keyof typeof status, 'OK'>;
  readonly message: string;
};

/** What is known of a call besides its message. */
export type UnaryCall = {
  /** The value of a header of the call, its name in lower case; '' when it is absent. */
  metadata(name: string): string;
  /** How long the caller waits, in ms from the arrival of the call; undefined: without end. */
  readonly timeoutMs: number | undefined;
};

/**
 * A unary gRPC method, whatever serves it. A response is an object without a field `failed`. Errors
 * that are thrown, or promises that reject, are mistakes of ours: the caller sees INTERNAL and no
 * more.
 */
export type UnaryMethod<Request extends object = object, Response extends object = object> = {
  /** Such as `/grpc.health.v1.Health/Check`. */
  readonly path: string;
  /** Undefined: these bytes are no such message. They belong to it: nobody else uses them again. */
  decode(bytes: Buffer): Request | undefined;
  encode(response: Response): Uint8Array;
  /** At once where it can, since a promise costs more than most answers. */
  handle(request: Request, call: UnaryCall): Response | Failure | Promise<Response | Failure>;
};

export function failure(failed: Failure['failed'], message: string): Failure {
  return { failed, message };
}

export function isFailure(answer: object): answer is Failure {
  return 'failed' in answer;
}
