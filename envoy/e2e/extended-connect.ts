import { type ClientHttp2Session, connect } from 'node:http2';

export type ConnectAsk = {
  /**
   * `path` and `protocol` make an extended CONNECT (RFC 8441). Without them it is a plain one,
   * which asks for a tunnel.
   */
  readonly path?: string;
  readonly protocol?: string;
  /** Default: `localhost`. */
  readonly authority?: string;
  /** What is sent after the other side has agreed. */
  readonly send?: string;
};

export type ConnectAnswer = { readonly status: number; readonly received: string };

/**
 * Sends one CONNECT over its own HTTP/2 connection, in plain text. Resolves when as much has come
 * back as was sent, or when it is refused.
 */
export async function askConnect(base: string, ask: ConnectAsk): Promise<ConnectAnswer> {
  const session = connect(base);
  try {
    await new Promise<void>((resolve, reject) => {
      session.once('remoteSettings', () => resolve()).once('error', reject);
    });
    return await askOver(session, ask);
  } finally {
    session.destroy();
  }
}

function askOver(
  session: ClientHttp2Session,
  { authority = 'localhost', path, protocol, send = '' }: ConnectAsk,
) {
  const extended = { ':protocol': protocol, ':path': path, ':scheme': 'http' };
  return new Promise<ConnectAnswer>((resolve, reject) => {
    const stream = session.request(
      { ':method': 'CONNECT', ':authority': authority, ...(protocol !== undefined && extended) },
      { endStream: false },
    );
    let status = 0;
    let received = '';
    const answer = () => resolve({ status, received });
    stream.setEncoding('utf8').on('data', chunk => {
      received += chunk;
      if (status === 200 && received.length >= send.length) answer();
    });
    stream.once('response', headers => {
      status = Number(headers[':status']);
      if (status === 200 && send !== '') stream.write(send);
      else answer();
    });
    stream.once('error', reject).once('close', answer);
  });
}
