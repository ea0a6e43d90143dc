import { tagOf, WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';
import type { SampledRequest } from './figures.ts';
import { grpcStatusOf } from './grpc-status.ts';
import { type NodeName, readNode } from './node-name.ts';
import { RESPONSE_FLAGS } from './response-flags.ts';

/** A request as it stands in a message. The stream knows the rest. */
export type LoggedRequest = Omit<SampledRequest, 'id' | 'node' | 'group' | 'weight'>;

export type AccessLogTaker = {
  /** The proxy that sends. It stands in the first message of a stream, before all requests. */
  node(node: NodeName): void;
  /** Returns whether another request is wanted. Otherwise the next one is skipped unread. */
  wants(): boolean;
  request(request: LoggedRequest): void;
};

type Fields = { -readonly [Name in keyof LoggedRequest]: LoggedRequest[Name] };

const bytesField = (field: number) => tagOf(field, WIRE.lengthDelimited);
const varintField = (field: number) => tagOf(field, WIRE.varint);

/** See envoy/service/accesslog/v3/als.proto and envoy/data/accesslog/v3/accesslog.proto. */
const MESSAGE = { identifier: bytesField(1), http_logs: bytesField(2) } as const;
const IDENTIFIER = { node: bytesField(1) } as const;
const ENTRIES = { log_entry: bytesField(1) } as const;
const ENTRY = {
  common_properties: bytesField(1),
  protocol_version: varintField(2),
  request: bytesField(3),
  response: bytesField(4),
} as const;
const COMMON = {
  downstream_remote_address: bytesField(2),
  start_time: bytesField(5),
  upstream_remote_address: bytesField(13),
  upstream_cluster: bytesField(15),
  response_flags: bytesField(16),
  upstream_transport_failure_reason: bytesField(18),
  route_name: bytesField(19),
  duration: bytesField(23),
  upstream_request_attempt_count: varintField(24),
} as const;
const REQUEST = {
  request_method: varintField(1),
  scheme: bytesField(2),
  authority: bytesField(3),
  path: bytesField(5),
  user_agent: bytesField(6),
  request_id: bytesField(9),
  original_path: bytesField(10),
  request_body_bytes: varintField(12),
} as const;
const RESPONSE = {
  response_code: bytesField(1),
  response_body_bytes: varintField(3),
  response_headers: bytesField(4),
  response_trailers: bytesField(5),
  response_code_details: bytesField(6),
} as const;
const HEADER = { name: bytesField(1), value: bytesField(2) } as const;
const WRAPPED = { value: varintField(1) } as const;
const TIME = { seconds: varintField(1), nanos: varintField(2) } as const;
const ADDRESS = { socket_address: bytesField(1) } as const;
const SOCKET_ADDRESS = { address: bytesField(2), port_value: varintField(3) } as const;

const PROTOCOLS = ['', 'HTTP/1.0', 'HTTP/1.1', 'HTTP/2', 'HTTP/3'];
const METHODS = [
  ...['', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'],
];

/** Longer texts of a request are cut to this many bytes. */
const MAX_TEXT_BYTES = 512;
const QUESTION_MARK = 0x3f;
const AT_SIGN = 0x40;

/**
 * Decodes a StreamAccessLogsMessage. A path is read up to its query, which is never made a text.
 * Throws a WireError when the bytes are not a message.
 */
export function decodeAccessLog(bytes: Buffer, taker: AccessLogTaker): void {
  new AccessLogDecoder(bytes, taker).read();
}

class AccessLogDecoder {
  readonly #bytes: Buffer;
  readonly #reader: WireReader;
  readonly #taker: AccessLogTaker;

  constructor(bytes: Buffer, taker: AccessLogTaker) {
    this.#bytes = bytes;
    this.#reader = new WireReader(bytes);
    this.#taker = taker;
  }

  read(): void {
    const reader = this.#reader;
    while (reader.more) {
      const tag = reader.tag();
      if (tag === MESSAGE.identifier) this.#identifier();
      else if (tag === MESSAGE.http_logs) this.#entries();
      else reader.skip(tag);
    }
  }

  #identifier(): void {
    this.#fields(tag => {
      if (tag !== IDENTIFIER.node) return false;
      this.#taker.node(readNode(this.#reader));
      return true;
    });
  }

  #entries(): void {
    this.#fields(tag => {
      if (tag !== ENTRIES.log_entry || !this.#taker.wants()) return false;
      this.#taker.request(this.#entry());
      return true;
    });
  }

  #entry(): LoggedRequest {
    const entry: Fields = { ...EMPTY };
    this.#fields(tag => {
      if (tag === ENTRY.common_properties) this.#common(entry);
      else if (tag === ENTRY.protocol_version)
        entry.protocol = PROTOCOLS[this.#reader.uint32()] ?? '';
      else if (tag === ENTRY.request) this.#request(entry);
      else if (tag === ENTRY.response) this.#response(entry);
      else return false;
      return true;
    });
    return entry;
  }

  #common(entry: Fields): void {
    this.#fields(tag => {
      if (tag === COMMON.downstream_remote_address) entry.client = this.#address(false);
      else if (tag === COMMON.upstream_remote_address) entry.upstream = this.#address(true);
      else if (tag === COMMON.start_time) entry.at = Math.floor(this.#milliseconds());
      else if (tag === COMMON.duration) entry.durationMs = round(this.#milliseconds());
      else if (tag === COMMON.upstream_cluster) entry.cluster = this.#text();
      else if (tag === COMMON.response_flags) entry.flags = this.#flags();
      else if (tag === COMMON.upstream_transport_failure_reason) entry.failure = this.#text();
      else if (tag === COMMON.route_name) entry.route = this.#text();
      else if (tag === COMMON.upstream_request_attempt_count)
        entry.attempts = this.#reader.uint32();
      else return false;
      return true;
    });
  }

  #request(entry: Fields): void {
    let original = '';
    this.#fields(tag => {
      if (tag === REQUEST.request_method) entry.method = METHODS[this.#reader.uint32()] ?? '';
      else if (tag === REQUEST.scheme) entry.scheme = this.#text();
      else if (tag === REQUEST.authority) entry.host = this.#authority();
      else if (tag === REQUEST.path) entry.path = this.#path();
      else if (tag === REQUEST.original_path) original = this.#path();
      else if (tag === REQUEST.user_agent) entry.userAgent = this.#text();
      else if (tag === REQUEST.request_id) entry.requestId = this.#text();
      else if (tag === REQUEST.request_body_bytes) entry.bytesReceived = this.#reader.uint64();
      else return false;
      return true;
    });
    // A route may have rewritten the path.
    if (original !== '') entry.path = original;
  }

  #response(entry: Fields): void {
    let grpcStatus = '';
    this.#fields(tag => {
      if (tag === RESPONSE.response_code) entry.status = this.#wrapped();
      else if (tag === RESPONSE.response_body_bytes) entry.bytesSent = this.#reader.uint64();
      else if (tag === RESPONSE.response_headers) grpcStatus ||= this.#grpcStatus();
      else if (tag === RESPONSE.response_trailers) grpcStatus = this.#grpcStatus() || grpcStatus;
      else if (tag === RESPONSE.response_code_details) entry.details = this.#text();
      else return false;
      return true;
    });
    Object.assign(entry, grpcStatusOf(grpcStatus));
  }

  /** Returns the value of `grpc-status`, or "" when it is another header. */
  #grpcStatus(): string {
    let [name, value] = ['', ''];
    this.#fields(tag => {
      if (tag === HEADER.name) name = this.#text();
      else if (tag === HEADER.value) value = this.#text();
      else return false;
      return true;
    });
    return name === 'grpc-status' ? value : '';
  }

  /** Returns the flags that are set. Most are booleans, and one is a message. */
  #flags(): readonly string[] {
    const flags: string[] = [];
    this.#fields(tag => {
      const flag = RESPONSE_FLAGS.get(tag >>> 3);
      if (flag !== undefined && flags.length < RESPONSE_FLAGS.size) flags.push(flag);
      return false;
    });
    return flags;
  }

  #wrapped(): number {
    let value = 0;
    this.#fields(tag => {
      if (tag !== WRAPPED.value) return false;
      value = this.#reader.uint32();
      return true;
    });
    return value;
  }

  /** Reads a Timestamp or a Duration. */
  #milliseconds(): number {
    let ms = 0;
    this.#fields(tag => {
      if (tag === TIME.seconds) ms += this.#reader.uint64() * 1_000;
      else if (tag === TIME.nanos) ms += this.#reader.uint32() / 1_000_000;
      else return false;
      return true;
    });
    return ms;
  }

  #address(withPort: boolean): string {
    let address = '';
    let port = 0;
    this.#fields(tag => {
      if (tag !== ADDRESS.socket_address) return false;
      this.#fields(inner => {
        if (inner === SOCKET_ADDRESS.address) address = this.#text();
        else if (inner === SOCKET_ADDRESS.port_value) port = this.#reader.uint32();
        else return false;
        return true;
      });
      return true;
    });
    if (!withPort || address === '') return address;
    return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  }

  #path(): string {
    const start = this.#reader.pass();
    const end = this.#reader.at;
    const query = this.#bytes.subarray(start, end).indexOf(QUESTION_MARK);
    return this.#cut(start, query === -1 ? end : start + query);
  }

  /** An authority may begin with a user and a password (RFC 3986, section 3.2.1). */
  #authority(): string {
    const start = this.#reader.pass();
    const end = this.#reader.at;
    const user = this.#bytes.subarray(start, end).lastIndexOf(AT_SIGN);
    return this.#cut(start + user + 1, end);
  }

  #text(): string {
    const start = this.#reader.pass();
    return this.#cut(start, this.#reader.at);
  }

  #cut(start: number, end: number): string {
    return this.#bytes.toString('utf8', start, Math.min(end, start + MAX_TEXT_BYTES));
  }

  /** Reads a nested message. `read` returns whether it has read the field with this tag. */
  #fields(read: (tag: number) => boolean): void {
    const reader = this.#reader;
    const outer = reader.enter();
    while (reader.more) {
      const tag = reader.tag();
      if (!read(tag)) reader.skip(tag);
    }
    reader.leave(outer);
  }
}

const EMPTY: LoggedRequest = {
  at: 0,
  method: '',
  scheme: '',
  host: '',
  path: '',
  protocol: '',
  status: 0,
  flags: [],
  details: '',
  client: '',
  userAgent: '',
  requestId: '',
  durationMs: 0,
  attempts: 0,
  bytesReceived: 0,
  bytesSent: 0,
  route: '',
  cluster: '',
  upstream: '',
  failure: '',
};

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
