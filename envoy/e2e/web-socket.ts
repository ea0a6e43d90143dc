import { once } from 'node:events';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';

type Headers = Readonly<Record<string, string>>;

/** An open WebSocket of Node's own client. The other end sends messages back. */
export type EchoSocket = {
  /** Sends a message. Resolves with the one that comes back. */
  echo(message: string): Promise<string>;
  /** Resolves when the connection has closed. */
  readonly closed: Promise<unknown>;
  close(): void;
};

/** Opens one. Rejects when the handshake fails. `base` begins with http. */
export async function openWebSocket(
  base: string,
  path: string,
  headers: Headers = {},
): Promise<EchoSocket> {
  const socket = new WebSocket(base.replace(/^http/, 'ws') + path, { headers });
  const opened = new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`no WebSocket at ${path}`)));
  });
  const closed = new Promise(resolve => socket.addEventListener('close', resolve));
  await opened;
  return {
    echo: async message => {
      const answer = Promise.race([once(socket, 'message'), closed]);
      socket.send(message);
      const got: unknown = await answer;
      if (!Array.isArray(got)) throw new Error('closed before the message came back');
      return String((got[0] as MessageEvent).data);
    },
    closed,
    close: () => socket.close(),
  };
}

/** The answer to a request for an upgrade. It has a `socket` when the protocol was switched. */
export type UpgradeAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly socket?: Duplex;
};

/** Requests an upgrade by HTTP/1.1, without a library. */
export function askUpgrade(
  base: string,
  path: string,
  protocol = 'websocket',
  headers: Headers = {},
): Promise<UpgradeAnswer> {
  const key = { 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  return new Promise((resolve, reject) => {
    const sent = request(base + path, {
      agent: false,
      headers: { Connection: 'Upgrade', Upgrade: protocol, ...key, ...headers },
    });
    const answer = (status: number, headers: NodeJS.Dict<string | string[]>, socket?: Duplex) =>
      resolve({ status, headers: headers as Headers, ...(socket && { socket }) });
    sent.once('error', reject);
    sent.once('response', response => {
      answer(response.statusCode ?? 0, response.headers);
      response.resume();
    });
    sent.once('upgrade', ({ statusCode = 0, headers }, socket) =>
      answer(statusCode, headers, socket),
    );
    sent.end();
  });
}
