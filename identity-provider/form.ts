import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

const MAX_BYTES = 8 * 1024;
const MAX_DISCARDED_BYTES = 2 * 1024 * 1024;

/**
 * Reads the fields of a form that a browser has sent.
 * @returns undefined, without reading, when it is larger than 8 KiB or does not say its length
 */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return length > MAX_BYTES ? undefined : new URLSearchParams(await text(request));
}

/** Reads the rest of a form and drops it, until its end, 2 MiB, or a failure of the connection. */
export async function discardForm(request: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > MAX_DISCARDED_BYTES) return;
    }
  } catch {
    // The browser is gone, and no longer waits for the answer.
  }
}
