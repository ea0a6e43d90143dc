import { FLAG, FRAME, HEAD_BYTES, writeFrameHead } from '#grpc/http2/frame.ts';
import { PREFIX_BYTES } from '#grpc/http2/grpc-blocks.ts';
import { findType } from '#protos/root.ts';
import { DOMAIN } from '../ratelimit/limits.ts';
import type { MakeCall } from './decision-connection.ts';

export const RATE_LIMIT_PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
export const CHECK_PATH = '/envoy.service.auth.v3.Authorization/Check';

/** `:method: POST` and `:scheme: http` of HPACK's static table. Source: RFC 7541, appendix A. */
const START = [0x83, 0x86];
/** The first entry of the dynamic table. */
const NEWEST = 62;

export type Asked = {
  readonly path: string;
  /**
   * Returns the message of the next call on any connection. It may be a view that is used again.
   */
  readonly next: () => Uint8Array;
  /** Whether each call has a header with a value of its own, as when Envoy traces. */
  readonly isTraced?: boolean;
};

/**
 * Makes calls as Envoy sends them. Headers that are the same in each call are sent once per
 * connection. From then on one byte names each.
 */
export function callsOf({ path, next, isTraced = false }: Asked): () => MakeCall {
  const fields = [
    [':path', path],
    [':authority', 'service'],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
    ['grpc-timeout', '10S'],
  ] as const;
  const first = Buffer.concat([
    Buffer.from(START),
    ...fields.map(([name, value]) => literal(0x40, name, value)),
  ]);
  const later = Buffer.from([
    ...START,
    ...fields.map((_, n) => 0x80 | (NEWEST + fields.length - 1 - n)),
  ]);
  return () => stream => {
    const block = stream === 1 ? first : later;
    const trace = isTraced ? literal(0, 'traceparent', traceOf(stream)) : Buffer.alloc(0);
    return toCall(stream, block, trace, next());
  };
}

function toCall(stream: number, block: Buffer, trace: Buffer, message: Uint8Array): Buffer {
  const body = HEAD_BYTES + block.length + trace.length;
  const call = Buffer.allocUnsafe(body + HEAD_BYTES + PREFIX_BYTES + message.length);
  writeFrameHead(call, 0, block.length + trace.length, FRAME.headers, FLAG.endHeaders, stream);
  block.copy(call, HEAD_BYTES);
  trace.copy(call, HEAD_BYTES + block.length);
  writeFrameHead(call, body, PREFIX_BYTES + message.length, FRAME.data, FLAG.endStream, stream);
  call[body + HEAD_BYTES] = 0;
  call.writeUInt32BE(message.length, body + HEAD_BYTES + 1);
  call.set(message, body + HEAD_BYTES + PREFIX_BYTES);
  return call;
}

/** Returns these messages one after the other, again and again. */
export function inTurn(messages: readonly Uint8Array[]): () => Uint8Array {
  let asked = 0;
  return () => messages[asked++ % messages.length] ?? Buffer.alloc(0);
}

/** Returns what Envoy sends for a descriptor of two labels, the second of which is `n`. */
export function rateLimitRequest(n = '0') {
  const entries = [
    { key: 'generic_key', value: 'limit-0' },
    { key: 'n', value: n },
  ];
  return { domain: DOMAIN, descriptors: [{ entries }] };
}

export function rateLimitMessage(n = '0'): Uint8Array {
  const type = findType('envoy.service.ratelimit.v3.RateLimitRequest');
  if (type === undefined) throw new Error('no type of requests');
  return type.encode(type.fromObject(rateLimitRequest(n))).finish();
}

/** Returns such messages with another `n` each time, so that each call has a counter of its own. */
export function ofNewKeys(): () => Uint8Array {
  const none = '00000000';
  const message = Buffer.from(rateLimitMessage(none));
  const at = message.indexOf(none);
  let asked = 0;
  return () => {
    message.write((asked++).toString(36).padStart(none.length, '0'), at, 'latin1');
    return message;
  };
}

function traceOf(stream: number): string {
  return `00-0af7651916cd43dd8448eb211c80319c-${stream.toString(16).padStart(16, '0')}-01`;
}

/** Encodes texts of less than 127 bytes without Huffman code. Source: RFC 7541, section 6.2. */
function literal(kind: number, name: string, value: string): Buffer {
  return Buffer.from([
    kind,
    name.length,
    ...Buffer.from(name),
    value.length,
    ...Buffer.from(value),
  ]);
}
