/** Why a stream or a connection ends. Source: RFC 9113, section 7. */
export const ERROR = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

export type ErrorCode = (typeof ERROR)[keyof typeof ERROR];

/**
 * A peer's mistake that ends its connection. The message goes to it in GOAWAY. Source: RFC 9113,
 * section 5.4.1.
 */
export class ConnectionError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function failConnection(code: ErrorCode, message: string): never {
  throw new ConnectionError(code, message);
}
