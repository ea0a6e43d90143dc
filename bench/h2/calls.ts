import { findType } from '#protos/root.ts';
import { framed } from '#protos/unary/message-reader.ts';
import type { MakeCall } from '../ratelimit/decision-connection.ts';

/** Source: RFC 9113, section 6. */
const [DATA, HEADERS] = [0, 1];
const [END_STREAM, END_HEADERS] = [1, 4];
/** `:method: POST` and `:scheme: http` of HPACK's static table. Source: RFC 7541, appendix A. */
const START = [0x83, 0x86];
/** The first entry of the dynamic table. */
const NEWEST = 62;

export type Asked = {
  readonly path: string;
  readonly messages: readonly Uint8Array[];
  /** Whether each call has a header with a value of its own, as when Envoy traces. */
  readonly isTraced: boolean;
};

/** Calls as Envoy sends them: headers that are the same in each call are sent once for a connection, and named by one byte from then on. */
export function callsOf({ path, messages, isTraced }: Asked): () => MakeCall {
  const fields = [
    [':path', path],
    [':authority', 'service'],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
    ['grpc-timeout', '1000m'],
  ] as const;
  const first = Buffer.concat([
    Buffer.from(START),
    ...fields.map(([name, value]) => literal(0x40, name, value)),
  ]);
  const next = Buffer.from([...START, ...fields.map((_, n) => 0x80 | (NEWEST + fields.length - 1 - n))]);
  const bodies = messages.map(framed);
  return () => stream => {
    const block = stream === 1 ? first : next;
    const trace = isTraced ? literal(0, 'traceparent', traceOf(stream)) : Buffer.alloc(0);
    const body = bodies[((stream - 1) / 2) % bodies.length] ?? Buffer.alloc(0);
    const call = Buffer.allocUnsafe(18 + block.length + trace.length + body.length);
    writeHead(call, 0, HEADERS, END_HEADERS, stream, block.length + trace.length);
    block.copy(call, 9);
    trace.copy(call, 9 + block.length);
    writeHead(call, 9 + block.length + trace.length, DATA, END_STREAM, stream, body.length);
    body.copy(call, call.length - body.length);
    return call;
  };
}

/** What Envoy sends for a descriptor of two labels. */
export function rateLimitMessage(): Uint8Array {
  const type = findType('envoy.service.ratelimit.v3.RateLimitRequest');
  if (type === undefined) throw new Error('no type of requests');
  const entries = [
    { key: 'generic_key', value: 'limit-0' },
    { key: 'n', value: '0' },
  ];
  return type.encode(type.fromObject({ domain: 'bench', descriptors: [{ entries }] })).finish();
}

function traceOf(stream: number): string {
  return `00-0af7651916cd43dd8448eb211c80319c-${stream.toString(16).padStart(16, '0')}-01`;
}

/** Texts of less than 127 bytes, as they are. Source: RFC 7541, section 6.2. */
function literal(kind: number, name: string, value: string): Buffer {
  return Buffer.from([kind, name.length, ...Buffer.from(name), value.length, ...Buffer.from(value)]);
}

function writeHead(
  into: Buffer,
  at: number,
  type: number,
  flags: number,
  stream: number,
  length: number,
): void {
  into.writeUIntBE(length, at, 3);
  into[at + 3] = type;
  into[at + 4] = flags;
  into.writeUInt32BE(stream, at + 5);
}
