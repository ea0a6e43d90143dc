import { FRAME, frame } from '#grpc/http2/frame.ts';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { pick } from '#protos/testing/random.ts';
import {
  callHeaders,
  field,
  keptField,
  REQUEST,
  requestHeaders,
  setting,
  uint32,
} from './frames.ts';

const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const TEXTS = ['x', 'never', 'late-x', 'fail', 'late-fail', 'metadata x', ''];

/**
 * Returns the bytes of a connection after its preface. They are frames in any order, some of them
 * right, and perhaps damaged.
 */
export function randomFrames(random: () => number): Buffer {
  const frames = Array.from({ length: 1 + below(random, 40) }, () => randomFrame(random));
  const bytes = Buffer.concat(frames);
  return random() < 0.5 ? bytes : damaged(bytes, random);
}

const KINDS: readonly ((random: () => number) => Buffer)[] = [
  wholeCall,
  wholeCall,
  wholeCall,
  random => frame(FRAME.headers, flags(random), stream(random), block(random)),
  random => frame(FRAME.continuation, flags(random), stream(random), block(random)),
  random => frame(FRAME.data, flags(random), stream(random), framed(noise(random, 50))),
  random => frame(FRAME.data, flags(random), stream(random), noise(random, 300)),
  random => frame(FRAME.rstStream, 0, stream(random), uint32(below(random, 20))),
  random => frame(FRAME.settings, 0, 0, setting(below(random, 10), anyNumber(random))),
  random =>
    frame(FRAME.windowUpdate, 0, pick([0, stream(random)], random), uint32(anyNumber(random))),
  random => frame(FRAME.ping, below(random, 2), 0, noise(random, 9)),
  random => frame(FRAME.priority, 0, stream(random), noise(random, 6)),
  random => frame(FRAME.goaway, 0, 0, noise(random, 12)),
  random => frame(below(random, 256), below(random, 256), anyNumber(random), noise(random, 100)),
];

function randomFrame(random: () => number): Buffer {
  return pick(KINDS, random)(random);
}

function wholeCall(random: () => number): Buffer {
  const id = stream(random);
  const path = random() < 0.1 ? requestHeaders(REFLECTION) : callHeaders();
  const message = framed(Buffer.from(pick(TEXTS, random)));
  const cut = 1 + below(random, message.length);
  return Buffer.concat([
    frame(FRAME.headers, 4, id, path),
    frame(FRAME.data, 0, id, message.subarray(0, cut)),
    frame(FRAME.data, random() < 0.9 ? 1 : 0, id, message.subarray(cut)),
  ]);
}

function block(random: () => number): Buffer {
  const kinds = [
    () => callHeaders(),
    () => Buffer.from(REQUEST),
    () => callHeaders(field('x', 'y'.repeat(below(random, 400)))),
    () => callHeaders(keptField('x', noise(random, 100).toString('latin1'))),
    () => callHeaders(field('grpc-timeout', pick(['1m', '0S', '99999999H', 'x', ''], random))),
    () => callHeaders(field('grpc-encoding', 'gzip')),
    () => Buffer.concat([callHeaders(), noise(random, 40)]),
    () => noise(random, 200),
  ];
  return pick(kinds, random)();
}

/** Flips bits, cuts pieces out, or repeats them. */
function damaged(bytes: Buffer, random: () => number): Buffer {
  let result = Buffer.from(bytes);
  for (let n = 1 + below(random, 6); n > 0; n--) {
    const at = below(random, result.length);
    const end = at + below(random, Math.min(64, result.length - at));
    const change = below(random, 3);
    if (change === 0) result[at] = (result[at] ?? 0) ^ (1 << below(random, 8));
    if (change === 1) result = Buffer.concat([result.subarray(0, at), result.subarray(end)]);
    if (change === 2) result = Buffer.concat([result.subarray(0, end), result.subarray(at)]);
    if (result.length === 0) return result;
  }
  return result;
}

/** Returns a stream number, mostly small and odd, so that frames meet on a stream. */
function stream(random: () => number): number {
  return random() < 0.95 ? 2 * below(random, 12) + 1 : below(random, 40);
}

function flags(random: () => number): number {
  return random() < 0.8 ? pick([0, 1, 4, 5], random) : below(random, 256);
}

function anyNumber(random: () => number): number {
  return pick(
    [0, 1, 2, 255, 65_535, 2 ** 24, 2 ** 31 - 1, 2 ** 32 - 1, below(random, 2 ** 31)],
    random,
  );
}

function noise(random: () => number, most: number): Buffer {
  return Buffer.from(Array.from({ length: below(random, most) }, () => below(random, 256)));
}

function below(random: () => number, end: number): number {
  return Math.floor(random() * end);
}
