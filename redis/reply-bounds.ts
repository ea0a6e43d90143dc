import decoder from '@redis/client/dist/lib/RESP/decoder.js';
import { RedisUnavailable } from './redis-unavailable.ts';

/** A record of ext-authz has at most some 2 MiB. */
const MOST_REPLY_BYTES = 16 * 1_048_576;
/** CLUSTER SLOTS of 16,384 single slots has some 300,000. */
const MOST_REPLY_ITEMS = 1_048_576;
/** CLUSTER SLOTS has 4. */
const MOST_REPLY_DEPTH = 16;
const MOST_LINE_BYTES = 65_536;

/** As the library does, which passes over the byte after it, too. */
const LINE_END = '\r'.charCodeAt(0);
const NUMBER = ':'.charCodeAt(0);
/** RESP2 alone, since the library reads RESP3 too, and there a number digit by digit. */
const BEGIN = /^(?:[+:-]|[$*](?:-1?|\d{0,15})$)/;
const HEAD = /^([$*])(-1|\d{1,15})$/;

/**
 * Bounds the replies of one connection before they are decoded. The library makes an array as long
 * as its first line says, so few bytes could take all memory.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export class ReplyBounds {
  /** Of the reply so far, with what its lines announce. */
  #bytes = 0;
  #items = 0;
  /** How many items each open array still wants, the innermost last. */
  readonly #open: number[] = [];
  /** The beginning of a line. */
  #line = '';
  /** How many of the next bytes are no line. */
  #passing = 0;

  /**
   * Looks at the next bytes. Throws RedisUnavailable for a reply that is too large, or none of
   * RESP2.
   */
  look(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const part = Math.min(this.#passing, chunk.length - at);
      this.#passing -= part;
      at = part > 0 ? at + part : this.#readLine(chunk, at);
    }
  }

  #readLine(chunk: Buffer, at: number): number {
    const found = chunk.indexOf(LINE_END, at);
    const end = found < 0 ? chunk.length : found;
    this.#take(end - at);
    // Most replies are counts, which need not be read here.
    if (found >= 0 && this.#line === '' && chunk[at] === NUMBER && end - at < MOST_LINE_BYTES) {
      this.#passing = 1;
      this.#endItem();
      return end + 1;
    }
    this.#line += chunk.toString('latin1', at, end);
    if (this.#line.length > MOST_LINE_BYTES) throw tooLarge();
    if (!BEGIN.test(this.#line)) throw noReply();
    if (found < 0) return end;
    this.#readItem(this.#line);
    this.#line = '';
    return end + 1;
  }

  #readItem(line: string): void {
    const [head, type, digits] = HEAD.exec(line) ?? [];
    if (head === undefined && /^[$*]/.test(line)) throw noReply();
    const length = Math.max(0, Number(digits ?? 0));
    this.#passing = 1;
    if (type === '$' && digits !== '-1') {
      this.#passing += length + 2;
      this.#take(length);
    }
    if (type === '*' && length > 0) this.#beginArray(length);
    else this.#endItem();
  }

  #beginArray(length: number): void {
    this.#items += length;
    if (this.#items > MOST_REPLY_ITEMS || this.#open.length === MOST_REPLY_DEPTH) throw tooLarge();
    this.#open.push(length);
  }

  /** The last item of an array ends the array too. */
  #endItem(): void {
    for (let left = this.#open.pop(); left !== undefined; left = this.#open.pop())
      if (left > 1) {
        this.#open.push(left - 1);
        return;
      }
    this.#bytes = 0;
    this.#items = 0;
  }

  #take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MOST_REPLY_BYTES) throw tooLarge();
  }
}

function tooLarge(): RedisUnavailable {
  return new RedisUnavailable('its reply is too large');
}

function noReply(): RedisUnavailable {
  return new RedisUnavailable('it does not speak the protocol of Redis');
}

const boundsOf = new WeakMap<object, ReplyBounds>();

/**
 * Lets every decoder of the library look at its bytes first. The library has no setting for it. Its
 * version is pinned, and a test sends such replies to a connection. What is thrown ends that.
 */
export function boundReplies(): void {
  const { prototype } = decoder.Decoder;
  const { write } = prototype;
  prototype.write = function bounded(chunk: Buffer) {
    const bounds = boundsOf.get(this) ?? new ReplyBounds();
    boundsOf.set(this, bounds);
    bounds.look(chunk);
    write.call(this, chunk);
  };
}
