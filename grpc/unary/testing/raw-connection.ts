import net from 'node:net';
import type { TestContext } from 'node:test';
import { FRAME, frame, PREFACE } from '#grpc/http2/frame.ts';

/** What a server sent, as far as tests look at it. */
export type Heard = {
  /** How many frames of each type. */
  readonly counts: Map<number, number>;
  /** The code of RST_STREAM by stream. */
  readonly resets: Map<number, number>;
  /** The code of the last GOAWAY. */
  goaway: number | undefined;
};

/** A connection that sends the frames of a test. */
export class RawConnection {
  readonly heard: Heard = { counts: new Map(), resets: new Map(), goaway: undefined };
  readonly closed: Promise<void>;
  readonly #socket: net.Socket;
  readonly #waiting = new Set<() => void>();
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: net.Socket) {
    this.#socket = socket.on('error', () => {});
    this.closed = new Promise(resolve => void socket.once('close', () => resolve()));
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('close', () => this.#wake());
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Resolves when the system has taken the bytes, or the connection has ended. */
  write(...frames: readonly Uint8Array[]): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise(resolve => {
      this.#socket.once('close', resolve);
      this.#socket.write(Buffer.concat(frames), () => {
        this.#socket.off('close', resolve);
        resolve();
      });
    });
  }

  /** Resolves when the server has said so, or the connection has ended. */
  async until(said: (heard: Heard) => boolean): Promise<void> {
    while (!this.isClosed && !said(this.heard)) {
      await new Promise<void>(resolve => void this.#waiting.add(resolve));
      this.#waiting.clear();
    }
  }

  /** Stops reading what the server sends. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Ends this side of the connection. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) break;
      this.#hear(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
    }
    this.#wake();
  }

  #hear(bytes: Buffer): void {
    const { counts, resets } = this.heard;
    const type = bytes[3] ?? 0;
    counts.set(type, (counts.get(type) ?? 0) + 1);
    if (type === FRAME.rstStream) resets.set(bytes.readUInt32BE(5), bytes.readUInt32BE(9));
    if (type === FRAME.goaway) this.heard.goaway = bytes.readUInt32BE(13);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}

/** Connects, and sends the preface of HTTP/2. */
export async function connectRaw(
  t: TestContext,
  port: number,
  settings: Uint8Array = Buffer.alloc(0),
): Promise<RawConnection> {
  const socket = net.connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const connection = new RawConnection(socket);
  await connection.write(PREFACE, frame(FRAME.settings, 0, 0, settings));
  return connection;
}
