import net from 'node:net';
import { findType } from '#protos/root.ts';
import { framed } from '#protos/unary/message-reader.ts';
import { DOMAIN } from './decision-service.ts';

/** Source: RFC 9113, section 6. */
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE] = [0, 1, 3, 4, 6, 8];
const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4];
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
/** The window is widened to the most at the start, and again long before answers of some bytes have used it up. */
const WIDEST = 2 ** 31 - 1 - 65_535;
const WIDEN_AFTER = 2 ** 30;

/** Hears of each call that has ended, when it was due, and whether it has an answer. */
export type OnAnswer = (due: number, isAnswered: boolean) => void;

/** The frames of a call on this stream, the first of which is 1. */
export type MakeCall = (stream: number) => Buffer;

/**
 * A connection that asks for one decision again and again, at a hundredth of what an HTTP/2 library costs, so that the service is what is
 * measured. It writes frames that it has made before and looks for DATA and END_STREAM in the answers.
 */
export class DecisionConnection {
  readonly #socket: net.Socket;
  readonly #onAnswer: OnAnswer;
  readonly #makeCall: MakeCall;
  readonly #due = new Map<number, number>();
  readonly #withData = new Set<number>();
  #next = 1;
  #received = 0;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(socket: net.Socket, onAnswer: OnAnswer, makeCall: MakeCall) {
    this.#socket = socket.setNoDelay(true);
    this.#onAnswer = onAnswer;
    this.#makeCall = makeCall;
    socket.on('close', () => {
      for (const stream of [...this.#due.keys()]) this.#end(stream);
    });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), widen(WIDEST)]));
  }

  static async open(
    port: number,
    onAnswer: OnAnswer,
    makeCall: MakeCall = callOf,
  ): Promise<DecisionConnection> {
    const socket = net.connect(port, '127.0.0.1');
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new DecisionConnection(socket, onAnswer, makeCall);
  }

  get inFlight(): number {
    return this.#due.size;
  }

  /** Asks once for each `due`, in ms of `performance.now()`. */
  ask(dues: readonly number[]): void {
    const calls = dues.map(due => {
      this.#due.set(this.#next, due);
      const call = this.#makeCall(this.#next);
      this.#next += 2;
      return call;
    });
    if (calls.length > 0) this.#socket.write(Buffer.concat(calls));
  }

  close(): void {
    this.#due.clear();
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at + 9 <= bytes.length) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      this.#hear(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, bytes.readUInt32BE(at + 5), end - at);
      if (bytes[at + 3] === PING && bytes[at + 4] === 0)
        this.#socket.write(frame(PING, ACK, 0, bytes.subarray(at + 9, end)));
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  #hear(type: number, flags: number, stream: number, length: number): void {
    if (type === SETTINGS && flags === 0) this.#socket.write(frame(SETTINGS, ACK, 0));
    if (type === RST_STREAM) this.#end(stream);
    if (type === DATA) this.#count(stream, length);
    if ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) this.#end(stream);
  }

  #count(stream: number, length: number): void {
    this.#withData.add(stream);
    this.#received += length;
    if (this.#received < WIDEN_AFTER) return;
    this.#socket.write(widen(WIDEN_AFTER));
    this.#received -= WIDEN_AFTER;
  }

  #end(stream: number): void {
    const due = this.#due.get(stream);
    if (due === undefined) return;
    this.#due.delete(stream);
    this.#onAnswer(due, this.#withData.delete(stream));
  }
}

const MESSAGE = framed(requestMessage());
const HEADER_BLOCK = headerBlock();
const CALL = Buffer.concat([
  frame(HEADERS, END_HEADERS, 0, HEADER_BLOCK),
  frame(DATA, END_STREAM, 0, MESSAGE),
]);

function callOf(stream: number): Buffer {
  const call = Buffer.from(CALL);
  call.writeUInt32BE(stream, 5);
  call.writeUInt32BE(stream, 9 + HEADER_BLOCK.length + 5);
  return call;
}

/** What Envoy sends for a descriptor of two labels. */
function requestMessage(): Uint8Array {
  const type = findType('envoy.service.ratelimit.v3.RateLimitRequest');
  if (type === undefined) throw new Error('no type of requests');
  const entries = [
    { key: 'generic_key', value: 'limit-0' },
    { key: 'n', value: '0' },
  ];
  return type.encode(type.fromObject({ domain: DOMAIN, descriptors: [{ entries }] })).finish();
}

/** POST and http of the static table, the rest as it is. Source: RFC 7541, section 6 and appendix A. */
function headerBlock(): Buffer {
  const literal = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
  const field = (name: string, value: string) =>
    Buffer.concat([Buffer.from([0]), literal(name), literal(value)]);
  const fields = [field(':path', PATH), field(':authority', 'service'), field('te', 'trailers')];
  const type = field('content-type', 'application/grpc');
  return Buffer.concat([Buffer.from([0x83, 0x86]), ...fields, type, field('grpc-timeout', '10S')]);
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function widen(bytes: number): Buffer {
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(bytes);
  return frame(WINDOW_UPDATE, 0, 0, increment);
}
