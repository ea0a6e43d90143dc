import http2, {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { ECHO } from './echo-server.ts';

/** The answer to one request, with headers and trailers together and the text of the message. */
export type CallAnswer = {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The code of the RST_STREAM frame. 0 is none, or no error. */
  readonly rstCode: number;
};

export function openSession(
  t: TestContext,
  port: number,
  settings: http2.Settings = {},
): ClientHttp2Session {
  // Longer headers than the server reads are its to refuse.
  const options = { settings, maxSendHeaderBlockLength: 2 ** 20 };
  const session = http2.connect(`http://127.0.0.1:${port}`, options);
  session.on('error', () => {});
  t.after(() => session.destroy());
  return session;
}

export function open(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}) {
  return session.request({
    ':method': 'POST',
    ':path': ECHO,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
}

/** Resolves when the stream has closed, well or not. */
export function closed(stream: Duplex): Promise<void> {
  return new Promise(resolve => void stream.once('close', resolve));
}

/** Sends one request with these bytes as its body, and waits for its end. */
export async function send(
  session: ClientHttp2Session,
  body: Uint8Array,
  headers: OutgoingHttpHeaders = {},
): Promise<CallAnswer> {
  const stream = open(session, headers);
  const all: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  stream.on('response', received => Object.assign(all, received));
  stream.on('trailers', received => Object.assign(all, received));
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  stream.end(body);
  await closed(stream);
  return {
    headers: all,
    text: Buffer.concat(chunks).subarray(5).toString(),
    rstCode: stream.rstCode ?? 0,
  };
}

export function call(session: ClientHttp2Session, text: string, headers: OutgoingHttpHeaders = {}) {
  return send(session, framed(Buffer.from(text)), headers);
}
