import { after } from 'node:test';

/**
 * Returns which implementation speaks HTTP/2 in the tests. It is Node's library, or ours in the
 * tests of grpc/http2/unary/.
 */
export function transport(): 'node' | 'framed' {
  return process.env.TEST_TRANSPORT === 'framed' ? 'framed' : 'node';
}

/** Runs the tests of another file with HTTP/2 spoken by our own framing. */
export async function withFramedTransport(tests: string): Promise<void> {
  process.env.TEST_TRANSPORT = 'framed';
  after(() => {
    delete process.env.TEST_TRANSPORT;
  });
  // The other file may have run in this process already. This name loads it once more.
  await import(`${tests}?framed`);
}
