import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type LocalServer, listenLocally } from './local-server.ts';

/** A request for an upgrade, as an upstream got it. */
export type UpgradeAsked = {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
};

/**
 * A real server on the loopback that accepts every upgrade, but for a WebSocket without a key. It
 * sends back each message of a WebSocket, and each byte of other protocols.
 */
export type WebSocketUpstream = LocalServer & {
  /** Returns the requests that it got since its start. */
  asked(): readonly UpgradeAsked[];
};

/** A path where neither requests nor handshakes are ever answered. */
export const SILENT = '/silent';

export async function startWebSocketUpstream(): Promise<WebSocketUpstream> {
  const asked: UpgradeAsked[] = [];
  const open = new Set<Duplex>();
  const server = createServer(({ url = '' }, response) => {
    if (!url.startsWith(SILENT)) response.end('no upgrade');
  });
  server.on('upgrade', ({ headers, url = '' }: IncomingMessage, socket: Duplex) => {
    asked.push({ url, headers });
    open.add(socket.on('error', () => {}).once('close', () => open.delete(socket)));
    if (url.startsWith(SILENT)) return;
    const isWebSocket = headers.upgrade?.toLowerCase() === 'websocket';
    if (isWebSocket && !isKey(headers['sec-websocket-key'])) {
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    socket.write(switching(headers));
    if (isWebSocket) echoMessages(socket);
    else socket.pipe(socket);
  });
  const { close, port } = await listenLocally(server);
  const closeAll = () => {
    for (const socket of open) socket.destroy();
    return close();
  };
  return { port, asked: () => asked, close: closeAll };
}

/** Base64 of 16 bytes. Source: RFC 6455 section 4.2.1. */
function isKey(key = ''): boolean {
  return /^[A-Za-z0-9+/]{22}==$/.test(key);
}

/** RFC 6455 section 4.2.2. */
function switching({ upgrade, 'sec-websocket-key': key }: IncomingMessage['headers']): string {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', `Upgrade: ${upgrade}`];
  const accept = createHash('sha1')
    .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  return [...lines, ...(key === undefined ? [] : [`Sec-WebSocket-Accept: ${accept}`]), '', ''].join(
    '\r\n',
  );
}

function echoMessages(socket: Duplex): void {
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (let frame = readFrame(received); frame !== undefined; frame = readFrame(received)) {
      received = received.subarray(frame.bytes);
      socket.write(toFrame(frame.first, frame.payload));
      if ((frame.first & 0x0f) === CLOSE) socket.end();
    }
  });
}

const CLOSE = 0x8;

type Frame = { readonly first: number; readonly payload: Buffer; readonly bytes: number };

/**
 * Reads a client's frame of up to 64 KiB, which is masked. Source: RFC 6455 section 5.2.
 * @returns undefined when not all of it has come
 */
function readFrame(bytes: Buffer): Frame | undefined {
  const [first = 0, second = 0] = bytes;
  const isLong = (second & 0x7f) === 126;
  const at = isLong ? 4 : 2;
  if (bytes.length < at) return undefined;
  const length = isLong ? bytes.readUInt16BE(2) : second & 0x7f;
  const end = at + 4 + length;
  if (bytes.length < end) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = bytes.subarray(at + 4, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return { first, payload: Buffer.from(payload), bytes: end };
}

function toFrame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? [first, length] : [first, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), payload]);
}
