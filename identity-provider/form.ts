import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 8 * 1024;

/** The fields of a form that a browser has sent. Throws when they are more than 8 KiB. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`a form of more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
