import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

const MAX_BYTES = 8 * 1024;

/** The fields of a form that a browser has sent; undefined, and nothing is read, when it is larger than 8 KiB or does not say its length. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return length > MAX_BYTES ? undefined : new URLSearchParams(await text(request));
}
