import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';

const LINGER_MS = 5000;
const SILENCE_MS = 500;

/**
 * Resolves when the client has sent the whole request or given up, has sent nothing for half a
 * second, or after five seconds. What it sends is read and dropped. An Envoy in between takes an
 * answer that comes before that as the end of the request, and resets the client's connection; many
 * clients then never read the answer.
 */
export function sentOrSilent(req: IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(silence);
      clearTimeout(limit);
      req.off('data', heard);
      resolve();
    };
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MS);
    };
    let silence = setTimeout(end, SILENCE_MS);
    const limit = setTimeout(end, LINGER_MS);
    finished(req, end);
    req.on('data', heard);
  });
}

/**
 * Ends an answer, already written with its Content-Length, whose request the client may still be
 * sending. The connection closes when the client has finished or given up, or after five seconds;
 * until then what it sends is read and dropped. To close at once would reset the connection, and a
 * reset takes the answer away from a client that has not read it yet (RFC 9112, 9.6).
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
