import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into each test file by `npm test`: a file that leaves a server or a child behind, as where
 * a `before` has failed half-way, fails with what keeps it, where it would have the whole run wait
 * for ever. It has GATEWAY_TEST_END_MS for its end, by default a minute.
 */
const PATIENCE_MS = Number(process.env.GATEWAY_TEST_END_MS ?? 60_000);

// Whoever a test forks inherits the options of its process, and is no test.
if (isMainThread && process.argv[1]?.endsWith('.test.ts')) {
  const { after } = await import('node:test');
  after(() => void setTimeout(fail, PATIENCE_MS).unref());
}

function fail(): void {
  const kept = process.getActiveResourcesInfo().join(', ');
  writeSync(
    2,
    `${process.argv[1]} does not end ${PATIENCE_MS} ms after its last test; open are: ${kept}\n`,
  );
  process.exit(1);
}
