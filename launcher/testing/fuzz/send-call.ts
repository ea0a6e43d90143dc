import http2 from 'node:http2';
import { pick } from '#protos/testing/random.ts';
import { mutateMessage } from './mutate-message.ts';

/** A recorded call: its path, and the messages of its stream in base64. */
export type CallSeed = { readonly path: string; readonly messages: readonly string[] };

const PATIENCE_MS = 40;
/** The connection is cut when a server lets a call hang this long, in ms. */
const MOST_MS = 1_000;
const MOST_MESSAGES = 5;
const TIMEOUTS = ['1m', '0S', '99999999H', 'x', '-1S'];

/** Opens a connection for calls that follow each other. */
export function openCalls(port: number): http2.ClientHttp2Session {
  return http2.connect(`http://127.0.0.1:${port}`).on('error', () => {});
}

/** Makes one call with messages like those of the seed. Resolves with whether the port answered. */
export function sendCall(
  session: http2.ClientHttp2Session,
  seed: CallSeed,
  random: () => number,
): Promise<boolean> {
  const messages = Array.from({ length: Math.ceil(random() * MOST_MESSAGES) }, () => {
    const bytes = Buffer.from(pick(seed.messages, random), 'base64');
    return frame(random() < 0.7 ? mutateMessage(bytes, random) : bytes, random);
  });
  const [ends, stays] = [random() < 0.7, random() < 0.3];
  return new Promise(resolve => {
    const stream = session.request(headersOf(seed, random));
    let isAnswered = false;
    stream.on('response', () => {
      isAnswered = true;
      if (!stays) setImmediate(() => stream.close(http2.constants.NGHTTP2_CANCEL));
    });
    stream.on('error', () => {}).resume();
    const cut = setTimeout(() => {
      session.destroy();
      resolve(isAnswered);
    }, MOST_MS);
    stream.once('close', () => {
      clearTimeout(cut);
      resolve(isAnswered);
    });
    for (const message of messages) stream.write(message);
    if (ends) stream.end();
    setTimeout(() => stream.close(http2.constants.NGHTTP2_CANCEL), PATIENCE_MS);
  });
}

function headersOf({ path }: CallSeed, random: () => number): http2.OutgoingHttpHeaders {
  const headers = {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  };
  const odd: readonly (() => http2.OutgoingHttpHeaders)[] = [
    () => ({ 'grpc-timeout': pick(TIMEOUTS, random) }),
    () => ({ 'grpc-encoding': pick(['gzip', 'deflate', 'identity', 'x', ''], random) }),
    () => ({ 'content-type': 'text/plain' }),
    () => ({ ':path': `${path}${pick(['x', '/', '?a', '%00'], random)}` }),
    () => ({ 'x-long': 'x'.repeat(20_000) }),
    () => ({ 'user-bin': '!!not base64!!' }),
  ];
  return random() < 0.9 ? headers : { ...headers, ...pick(odd, random)() };
}

/** Flag and length, sometimes wrong. Source: gRPC over HTTP2, "Length-Prefixed-Message". */
function frame(message: Buffer, random: () => number): Buffer {
  const head = Buffer.alloc(5);
  head[0] = random() < 0.95 ? 0 : pick([1, 2, 255], random);
  head.writeUInt32BE(random() < 0.95 ? message.length : Math.floor(random() * 2 ** 32), 1);
  return Buffer.concat([head, message]);
}
