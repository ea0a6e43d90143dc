import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';

const LINGER_MS = 5000;
const SILENCE_MS = 500;

/**
 * Resolves when the client has sent the whole request or given up, has sent nothing for half a
 * second, or after five seconds. What it sends is read and dropped. An Envoy in between takes an
 * earlier answer as the end of the request, and resets the client's connection. Many clients then
 * never read the answer.
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
 * sending. The connection closes when the client has finished or given up, or after five seconds.
 * Until then what it sends is read and dropped. Closing at once would reset the connection, and a
 * client that has not read the answer yet would lose it (RFC 9112 section 9.6).
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
