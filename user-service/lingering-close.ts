import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';

const LINGER_MS = 5000;

/**
 * Ends an answer, already written with its Content-Length, whose request the client may still be sending. The connection closes
 * when the client has finished or given up, or after five seconds; until then what it sends is read and dropped. To close at once
 * would reset the connection, and a reset takes the answer away from a client that has not read it yet (RFC 9112, 9.6).
 */
export function lingeringClose(req: IncomingMessage, res: ServerResponse): void {
  const close = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(close, LINGER_MS);
  finished(req, close);
  req.resume();
}
