import type { Duplex } from 'node:stream';
import { type BlockPool, Output } from './output.ts';
import { Session, type SessionLimits } from './session.ts';
import type { OnRequest } from './streams.ts';

/** How often a silent peer is asked whether it is there, and how long it has to answer. */
export type KeepAlive = { readonly everyMs: number; readonly timeoutMs: number };

/**
 * Reading stops while more than this waits to be written. A peer that does not read its answers
 * gets no further ones.
 */
const HIGH_WATER_BYTES = 64 * 1_024;
/**
 * The most answers that wait for room in the peer's windows. All calls that may be open at once fit
 * with answers of 32 KiB each, since a store may let them all come together.
 */
const MAX_WAITING_BYTES = 32 * 1_024 * 1_024;
/**
 * How long the input of a peer is still read and thrown away after GOAWAY, so that the peer can
 * read the reason.
 */
const LINGER_MS = 1_000;
const LINGER_BYTES = 256 * 1_024;

export type ConnectionOptions = {
  readonly pool: BlockPool;
  readonly limits: SessionLimits;
  readonly keepAlive: KeepAlive;
  /** A clock that is never set, in ms. */
  readonly now: () => number;
  /** Hears how many bytes wait until the peer takes them, while these are many, and else 0. */
  readonly onWaiting?: (connection: Connection, bytes: number) => void;
};

/**
 * Runs a session on its socket. The first answer of each read is written at once, so that the peer,
 * on its own core, goes on with it meanwhile. The others are written together.
 */
export class Connection {
  readonly session: Session;
  readonly closed: Promise<void>;
  readonly #socket: Duplex;
  readonly #output: Output;
  readonly #options: ConnectionOptions;
  #isReading = false;
  #hasAnswered = false;
  #isWriting = false;
  #isScheduled = false;
  #lingered = -1;

  constructor(
    socket: Duplex,
    options: ConnectionOptions,
    onRequest: (connection: Connection) => OnRequest,
  ) {
    this.#socket = socket;
    this.#options = options;
    this.#output = new Output(options.pool);
    this.session = new Session(this.#output, options.limits, onRequest(this), options.now);
    this.closed = new Promise(resolve => void socket.once('close', resolve));
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('close', () => this.session.end());
    this.#keepAlive();
    this.#flush();
  }

  /** Tells the peer to go elsewhere. The connection ends when its calls have. */
  drain(): void {
    this.session.drain();
    this.wrote();
  }

  /** Ends the connection at once, with what waits for its peer. */
  destroy(): void {
    this.#socket.destroy();
  }

  /**
   * Schedules the write of an answer. It is written at the end of this turn, or at once if it is
   * the first of a read.
   */
  wrote(): void {
    if (this.#isReading) this.#flushFirst();
    if (this.#isReading || this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #receive(chunk: Buffer): void {
    if (this.#lingered >= 0) {
      this.#throwAway(chunk.length);
      return;
    }
    this.#isReading = true;
    this.#hasAnswered = false;
    this.session.receive(chunk);
    this.#isReading = false;
    this.#flush();
  }

  #flushFirst(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    this.#flush();
  }

  #flush(): void {
    if (this.#socket.destroyed) return;
    const waiting = this.#output.bytes + this.session.streams.sender.unsentBytes;
    // The peer asks for more than it lets us send. We do not wait for it.
    if (waiting > MAX_WAITING_BYTES) this.destroy();
    const kept = waiting + this.#socket.writableLength;
    this.#options.onWaiting?.(this, kept > HIGH_WATER_BYTES ? kept : 0);
    if (this.#socket.destroyed) return;
    if (this.#isWriting) {
      if (this.#output.bytes > HIGH_WATER_BYTES) this.#socket.pause();
    } else if (this.#output.bytes > 0) this.#write();
    else if (this.session.isOver) this.#end();
  }

  #write(): void {
    const { parts, blocks } = this.#output.take();
    this.#isWriting = true;
    const last = parts.length - 1;
    if (last > 0) this.#socket.cork();
    for (let n = 0; n < last; n++) this.#socket.write(parts[n]);
    this.#socket.write(parts[last], error => {
      this.#isWriting = false;
      // The system may still hold a part of what could not be written.
      if (error) return;
      this.#options.pool.giveBack(blocks);
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#flush();
    });
    if (last > 0) this.#socket.uncork();
  }

  #end(): void {
    if (this.#lingered >= 0) return;
    this.#lingered = 0;
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  #throwAway(bytes: number): void {
    this.#lingered += bytes;
    if (this.#lingered > LINGER_BYTES) this.#socket.destroy();
  }

  /** Ends a connection whose peer has gone without notice, or has stopped reading. */
  #keepAlive(): void {
    const { everyMs, timeoutMs } = this.#options.keepAlive;
    let late: NodeJS.Timeout | undefined;
    const timer = setInterval(() => {
      const { pongs } = this.session;
      this.session.ping();
      this.wrote();
      late ??= setTimeout(() => {
        late = undefined;
        if (this.session.pongs === pongs) this.#socket.destroy();
      }, timeoutMs);
    }, everyMs);
    this.#socket.once('close', () => {
      clearInterval(timer);
      clearTimeout(late);
    });
  }
}
