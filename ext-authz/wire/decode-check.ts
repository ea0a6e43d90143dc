import { isUtf8 } from 'node:buffer';
import type { HeaderFields } from '#ext-authz/http/http-request.ts';
import { tagOf, WireError, WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';
import { CheckHeaders, STRIDE } from './check-headers.ts';

/** What is read of an `envoy.service.auth.v3.CheckRequest`. A text that is missing is ''. */
export type CheckMessage = {
  /** Whether it is about an HTTP request. */
  readonly isHttp: boolean;
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  /** The fields of `header_map`, without pseudo-headers, which have fields of their own. */
  readonly headers: HeaderFields;
  readonly body: Uint8Array;
  /** What the route says of itself by the key `rule`. */
  readonly routeRule: string;
  /** Whether the key `before` says that the route is yet to be chosen. */
  readonly beforeRoute: boolean;
  /** The address of the connection that the request came by. */
  readonly address: string;
};

const bytesField = (field: number) => tagOf(field, WIRE.lengthDelimited);

/** See envoy/service/auth/v3/external_auth.proto and attribute_context.proto. */
const REQUEST = { attributes: bytesField(1) } as const;
const ATTRIBUTES = {
  source: bytesField(1),
  request: bytesField(4),
  context_extensions: bytesField(10),
} as const;
const MAP_ENTRY = { key: bytesField(1), value: bytesField(2) } as const;
const ATTRIBUTES_REQUEST = { http: bytesField(2) } as const;
const HTTP = {
  method: bytesField(2),
  path: bytesField(4),
  host: bytesField(5),
  scheme: bytesField(6),
  body: bytesField(11),
  raw_body: bytesField(12),
  header_map: bytesField(13),
} as const;
const PEER = { address: bytesField(1) } as const;

/** See envoy/config/core/v3/address.proto and base.proto. */
const ADDRESS = { socket_address: bytesField(1) } as const;
const SOCKET_ADDRESS = { address: bytesField(2) } as const;
const HEADER_MAP = { headers: bytesField(1) } as const;
const HEADER_VALUE = {
  key: bytesField(1),
  value: bytesField(2),
  raw_value: bytesField(3),
} as const;

/**
 * Decodes a CheckRequest. Unknown fields are skipped. The fields of a message that appears twice
 * add up. Headers and body hold on to the bytes.
 * @returns undefined when the bytes are not a CheckRequest
 */
export function decodeCheck(bytes: Buffer): CheckMessage | undefined {
  try {
    return new CheckDecoder(bytes).read();
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** The key of `context_extensions` under which a route names its rule. */
const RULE_KEY = 'rule';
const BEFORE_KEY = 'before';

const NOTHING: Uint8Array = new Uint8Array();

class CheckDecoder {
  readonly #bytes: Buffer;
  readonly #reader: WireReader;
  /** All bytes as text. Cutting ASCII out of it costs a small part of decoding it. */
  readonly #text: string;
  readonly #spans = ROOM.slice();
  #spansEnd = 0;
  #isHttp = false;
  #method = '';
  #scheme = '';
  #host = '';
  #path = '';
  #address = '';
  #routeRule = '';
  #beforeRoute = false;
  #body = NOTHING;
  #rawBody = NOTHING;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#reader = new WireReader(bytes);
    this.#text = bytes.toString('latin1');
  }

  read(): CheckMessage {
    const reader = this.#reader;
    while (reader.more) {
      const tag = reader.tag();
      if (tag === REQUEST.attributes) this.#readAttributes();
      else reader.skip(tag);
    }
    return {
      ...{ isHttp: this.#isHttp, method: this.#method, scheme: this.#scheme, host: this.#host },
      ...{ path: this.#path, address: this.#address },
      ...{ routeRule: this.#routeRule, beforeRoute: this.#beforeRoute },
      headers: new CheckHeaders(this.#bytes, this.#text, this.#spans, this.#spansEnd),
      body: this.#rawBody.length > 0 ? this.#rawBody : this.#body,
    };
  }

  #readAttributes(): void {
    const reader = this.#reader;
    const outer = reader.enter();
    while (reader.more) {
      const tag = reader.tag();
      if (tag === ATTRIBUTES.source) this.#readWithin(PEER.address, this.#readAddress);
      else if (tag === ATTRIBUTES.request)
        this.#readWithin(ATTRIBUTES_REQUEST.http, this.#readHttp);
      else if (tag === ATTRIBUTES.context_extensions) this.#readExtension();
      else reader.skip(tag);
    }
    reader.leave(outer);
  }

  /** Reads a message of which one field is needed. */
  #readWithin(field: number, read: () => void): void {
    const reader = this.#reader;
    const outer = reader.enter();
    while (reader.more) {
      const tag = reader.tag();
      if (tag === field) read.call(this);
      else reader.skip(tag);
    }
    reader.leave(outer);
  }

  #readExtension(): void {
    const reader = this.#reader;
    const outer = reader.enter();
    let key = '';
    let value = '';
    while (reader.more) {
      const tag = reader.tag();
      if (tag === MAP_ENTRY.key) key = reader.utf8();
      else if (tag === MAP_ENTRY.value) value = reader.utf8();
      else reader.skip(tag);
    }
    reader.leave(outer);
    if (key === RULE_KEY) this.#routeRule = value;
    else if (key === BEFORE_KEY) this.#beforeRoute = value === 'route';
  }

  #readAddress(): void {
    this.#readWithin(ADDRESS.socket_address, this.#readSocketAddress);
  }

  #readSocketAddress(): void {
    this.#readWithin(SOCKET_ADDRESS.address, () => {
      this.#address = this.#reader.utf8();
    });
  }

  #readHttp(): void {
    const reader = this.#reader;
    const outer = reader.enter();
    this.#isHttp = true;
    while (reader.more) {
      const tag = reader.tag();
      if (tag === HTTP.method) this.#method = this.#readText();
      else if (tag === HTTP.path) this.#path = this.#readText();
      else if (tag === HTTP.host) this.#host = this.#readText();
      else if (tag === HTTP.scheme) this.#scheme = this.#readText();
      else if (tag === HTTP.header_map) this.#readWithin(HEADER_MAP.headers, this.#readHeader);
      else if (tag === HTTP.raw_body) this.#rawBody = this.#readBytes();
      else if (tag === HTTP.body) this.#body = Buffer.from(reader.string());
      else reader.skip(tag);
    }
    reader.leave(outer);
  }

  #readBytes(): Uint8Array {
    const start = this.#reader.pass();
    return this.#bytes.subarray(start, this.#reader.at);
  }

  #readHeader(): void {
    const reader = this.#reader;
    const outer = reader.enter();
    let name = 0;
    let nameEnd = 0;
    let value = 0;
    let valueEnd = 0;
    let raw = 0;
    let rawEnd = 0;
    while (reader.more) {
      const tag = reader.tag();
      if (tag === HEADER_VALUE.key) {
        name = reader.pass();
        nameEnd = reader.at;
      } else if (tag === HEADER_VALUE.raw_value) {
        raw = reader.pass();
        rawEnd = reader.at;
      } else if (tag === HEADER_VALUE.value) {
        value = reader.pass();
        valueEnd = reader.at;
      } else reader.skip(tag);
    }
    reader.leave(outer);
    if (name === nameEnd || this.#bytes[name] === COLON) return;
    const isRaw = rawEnd > raw;
    this.#add(name, nameEnd, isRaw ? raw : value, isRaw ? rawEnd : valueEnd, isRaw ? 1 : 0);
  }

  #add(name: number, nameEnd: number, value: number, valueEnd: number, raw: 0 | 1): void {
    const at = this.#spansEnd;
    this.#spans[at] = name;
    this.#spans[at + 1] = nameEnd;
    this.#spans[at + 2] = value;
    this.#spans[at + 3] = valueEnd;
    this.#spans[at + 4] = raw;
    this.#spansEnd += STRIDE;
  }

  /**
   * Reads text that lives no longer than the check, because it may hold on to the whole message.
   * Envoy allows only ASCII bytes in a path, so bytes that are not UTF-8 are not guessed at.
   */
  #readText(): string {
    const start = this.#reader.pass();
    const { at } = this.#reader;
    for (let index = start; index < at; index += 1)
      if ((this.#bytes[index] ?? 0) >= BEYOND_ASCII) return utf8Of(this.#bytes.subarray(start, at));
    return this.#text.slice(start, at);
  }
}

function utf8Of(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new WireError('a text is not UTF-8');
  return bytes.toString();
}

const BEYOND_ASCII = 0x80;

/**
 * Room for as many headers as most requests have. A copy of it is made faster than a list grows.
 * After a few long-lived lists, V8 allocates growing lists among what lives long. It leaves copies
 * among what does not.
 */
const ROOM: readonly number[] = Array.from({ length: 32 * STRIDE }, () => 0);
const COLON = 0x3a;
