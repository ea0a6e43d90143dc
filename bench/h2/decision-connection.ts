import net from 'node:net';
import { FLAG, FRAME, frame, HEAD_BYTES, PREFACE } from '#grpc/http2/frame.ts';
import { describeGoAway, maxStreamsOf, WIDEST, widen } from './frames.ts';

/**
 * The window is widened to the maximum at the start, and again long before answers of some bytes
 * have used it up.
 */
const WIDEN_AFTER = 2 ** 30;
/** The limit until the server has sent its own. */
const FIRST_STREAMS = 100;
/** More streams would only wait in the server instead of here. */
const MOST_STREAMS = 1_000;

/**
 * Called for each call that has ended, with the time when it was due, and the reason if it has no
 * answer.
 */
export type OnEnd = (due: number, failure?: string) => void;

/** Returns the frames of a call on this stream, the first of which is 1. */
export type MakeCall = (stream: number) => Buffer;

/**
 * A connection that makes calls at a hundredth of the cost of an HTTP/2 library, so that the
 * service is what is measured. It writes frames that were made before, and looks for DATA and
 * END_STREAM in the answers. Calls beyond the server's limit wait here. Every call ends. Calls of a
 * closed connection, and later ones, end as failures.
 */
export class DecisionConnection {
  readonly #socket: net.Socket;
  readonly #makeCall: MakeCall;
  readonly #onEnd: OnEnd;
  /** When the call of each stream was due. */
  readonly #inFlight = new Map<number, number>();
  readonly #withMessage = new Set<number>();
  readonly #waiting: number[] = [];
  #streams = FIRST_STREAMS;
  #next = 1;
  #received = 0;
  #rest: Buffer = Buffer.alloc(0);
  #goAway = 'the connection was closed';

  private constructor(socket: net.Socket, makeCall: MakeCall, onEnd: OnEnd) {
    this.#socket = socket.setNoDelay(true);
    this.#makeCall = makeCall;
    this.#onEnd = onEnd;
    socket.on('error', ({ message }) => {
      this.#goAway = message;
    });
    socket.on('close', () => this.#fail());
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), widen(WIDEST)]));
  }

  static async open(port: number, makeCall: MakeCall, onEnd: OnEnd): Promise<DecisionConnection> {
    const socket = net.connect(port, '127.0.0.1');
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new DecisionConnection(socket, makeCall, onEnd);
  }

  /** Calls that have not ended. */
  get pending(): number {
    return this.#inFlight.size + this.#waiting.length;
  }

  /** Makes a call for each `due`, in ms of `performance.now()`. */
  ask(dues: readonly number[]): void {
    this.#waiting.push(...dues);
    if (this.#socket.destroyed) this.#fail();
    else this.#send();
  }

  /** Calls that have not ended are not reported. */
  close(): void {
    this.#inFlight.clear();
    this.#waiting.length = 0;
    this.#socket.destroy();
  }

  #send(): void {
    const calls = this.#waiting.splice(0, this.#streams - this.#inFlight.size).map(due => {
      const call = this.#makeCall(this.#next);
      this.#inFlight.set(this.#next, due);
      this.#next += 2;
      return call;
    });
    if (calls.length > 0) this.#socket.write(Buffer.concat(calls));
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at + HEAD_BYTES <= bytes.length) {
      const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const payload = bytes.subarray(at + HEAD_BYTES, end);
      this.#hear(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, bytes.readUInt32BE(at + 5), payload);
      at = end;
    }
    this.#rest = bytes.subarray(at);
    if (this.#waiting.length > 0) this.#send();
  }

  #hear(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === FRAME.data || type === FRAME.headers)
      this.#hearAnswer(type, flags, stream, payload);
    if (type === FRAME.rstStream) this.#end(stream, `RST_STREAM ${payload.readUInt32BE()}`);
    if (type === FRAME.goaway) this.#goAway = describeGoAway(payload);
    if (type === FRAME.ping && flags === 0)
      this.#socket.write(frame(FRAME.ping, FLAG.ack, 0, payload));
    if (type === FRAME.settings && flags === 0) {
      this.#streams = Math.min(MOST_STREAMS, maxStreamsOf(payload) ?? MOST_STREAMS);
      this.#socket.write(frame(FRAME.settings, FLAG.ack, 0));
    }
  }

  #hearAnswer(type: number, flags: number, stream: number, { length }: Buffer): void {
    if (type === FRAME.data) {
      this.#withMessage.add(stream);
      this.#received += length;
      if (this.#received >= WIDEN_AFTER) {
        this.#socket.write(widen(this.#received));
        this.#received = 0;
      }
    }
    if ((flags & FLAG.endStream) === 0) return;
    this.#end(stream, this.#withMessage.delete(stream) ? undefined : 'an error for an answer');
  }

  #end(stream: number, failure?: string): void {
    const due = this.#inFlight.get(stream);
    if (due === undefined) return;
    this.#inFlight.delete(stream);
    this.#onEnd(due, failure);
  }

  #fail(): void {
    for (const stream of [...this.#inFlight.keys()]) this.#end(stream, this.#goAway);
    for (const due of this.#waiting.splice(0)) this.#onEnd(due, this.#goAway);
  }
}
