import type { RawConnection } from './raw-connection.ts';

/** How much is written at once. */
const BATCH_BYTES = 32 * 1_024;

/**
 * Sends `make(0)`, `make(1)` … until the time has passed, the connection has ended, or `max` were
 * sent. Returns how many it sent.
 */
export async function flood(
  connection: RawConnection,
  make: (n: number) => Uint8Array,
  { ms = 300, max = 1_000_000 } = {},
): Promise<number> {
  const end = performance.now() + ms;
  let sent = 0;
  while (!connection.isClosed && sent < max && performance.now() < end) {
    const batch: Uint8Array[] = [];
    for (let bytes = 0; bytes < BATCH_BYTES && sent < max; sent++) {
      const frames = make(sent);
      bytes += frames.length;
      batch.push(frames);
    }
    await connection.write(...batch);
    // A write that the system takes at once leaves no turn to the bystander, which runs in this
    // process.
    await new Promise(resolve => void setImmediate(resolve));
  }
  return sent;
}
