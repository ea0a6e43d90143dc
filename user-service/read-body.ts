import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * Reads the whole body of a request, of at most `limit` bytes, whether its length is announced or
 * it arrives in chunks. Throws HttpError 413 as soon as it is known to be longer. The rest is then
 * unread (see lingering-close.ts). A client that waits for `100 Continue` hears it only when its
 * body is welcome.
 */
export async function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  limit: number,
): Promise<Buffer> {
  const tooLarge = () => new HttpError(413, `the body must not have more than ${limit} bytes`);
  if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge();
  if (req.headers.expect !== undefined) res.writeContinue();

  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of received(req)) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* received(req: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // Destroying the request, as iteration does by default when left early, would cut off the
    // answer too.
    yield* req.iterator({ destroyOnReturn: false });
  } catch {
    throw new HttpError(400, 'the body ended before its time');
  }
}
