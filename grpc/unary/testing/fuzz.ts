import net from 'node:net';
import { FRAME, frame, PREFACE } from '#grpc/http2/frame.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { randomFrames } from './random-frames.ts';

/** How long a peer stays when the server has not answered its frames, which may all be in order. */
const PATIENCE_MS = 50;

/** Runs one connection to its end, whose bytes the seed decides, in one or two pieces. */
export function fuzzOnce(port: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const bytes = Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), randomFrames(random)]);
  const cut = random() < 0.5 ? bytes.length : Math.floor(random() * bytes.length);
  const [end, staysOpen] = [random() < 0.5, random() < 0.1];
  const socket = net.connect(port, '127.0.0.1').on('error', () => {});
  return new Promise(resolve => {
    const leave = () => (end ? socket.end() : socket.resetAndDestroy());
    socket.once('close', () => resolve());
    socket.write(bytes.subarray(0, cut), () => {
      socket.write(bytes.subarray(cut));
      if (staysOpen) setTimeout(() => socket.destroy(), PATIENCE_MS).unref();
    });
    socket.on('data', staysOpen ? () => {} : leave);
    setTimeout(() => socket.destroy(), 10 * PATIENCE_MS).unref();
  });
}

/**
 * Runs connections with the seeds from `first` on, eight at a time, while `goesOn`. Returns the
 * first seed that was not used.
 */
export async function fuzz(
  port: number,
  first: number,
  goesOn: (seed: number) => boolean,
): Promise<number> {
  let seed = first;
  const run = async () => {
    while (goesOn(seed)) await fuzzOnce(port, seed++);
  };
  await Promise.all(Array.from({ length: 8 }, run));
  return seed;
}
