import type { X509Certificate } from 'node:crypto';
import type { status } from '@grpc/grpc-js';

/** Why a call has no response, as a gRPC status. The message goes to the caller. */
export type Failure = {
  readonly failed: Exclude<keyof typeof status, 'OK'>;
  readonly message: string;
};

/** What is known of a call besides its message. */
export type UnaryCall = {
  /**
   * Returns the value of a header of the call, by its name in lower case, or '' when it is absent.
   */
  metadata(name: string): string;
  /**
   * How long the caller waits, in ms from the arrival of the call. Undefined when it waits without
   * limit.
   */
  readonly timeoutMs: number | undefined;
  /** Returns the other end of the connection. Absent where the server does not know it. */
  readonly peer?: () => UnaryPeer;
};

export type UnaryPeer = {
  /** An IP address. */
  readonly address: string;
  /** Verified. Undefined without TLS. */
  readonly certificate: X509Certificate | undefined;
};

/**
 * A unary gRPC method, independent of the server. A response is an object without a field `failed`.
 * Errors that are thrown, or promises that reject, are ours. The caller then sees only INTERNAL.
 */
export type UnaryMethod<Request extends object = object, Response extends object = object> = {
  /** Such as `/grpc.health.v1.Health/Check`. */
  readonly path: string;
  /**
   * Decodes bytes, which the message keeps and nobody else uses again.
   * @returns undefined when the bytes are no such message
   */
  decode(bytes: Buffer): Request | undefined;
  encode(response: Response): Uint8Array;
  /**
   * Handles a request, without a promise where it can, because a promise costs more than most
   * answers.
   */
  handle(request: Request, call: UnaryCall): Response | Failure | Promise<Response | Failure>;
};

export function failure(failed: Failure['failed'], message: string): Failure {
  return { failed, message };
}

export function isFailure(answer: object): answer is Failure {
  return 'failed' in answer;
}
