import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { Instance } from './instance.ts';

const REFUSALS: Readonly<Record<string, { readonly status: number; readonly error: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: 'the header of the request is too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    error: 'the chunk extensions of the body are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'the request took too long to arrive' },
};
const MALFORMED = { status: 400, error: 'this is not a valid HTTP request' };

/**
 * Returns a listener of a server's `clientError`. It answers what is not HTTP in the form of every
 * other failure, and closes the connection.
 */
export function clientError(
  instance: Instance,
  log: Logger,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  return (cause, socket) => {
    if (cause.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, error } = REFUSALS[cause.code ?? ''] ?? MALFORMED;
    log.info({ status, error, code: cause.code }, 'connection refused');
    socket.end(message(status, JSON.stringify({ ok: false, ...instance, error })), () =>
      socket.destroy(),
    );
  };
}

function message(status: number, body: string): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
