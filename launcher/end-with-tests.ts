import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into each test file by `npm test`. A file may leave a server or a child behind, for
 * example when a `before` fails half-way. It then fails and names what keeps it alive, instead of
 * blocking the whole run. It has GATEWAY_TEST_END_MS for its end. Default: a minute.
 */
const PATIENCE_MS = Number(process.env.GATEWAY_TEST_END_MS ?? 60_000);

// A process that a test forks inherits these options, and is no test.
if (isMainThread && process.argv[1]?.endsWith('.test.ts')) {
  const { after } = await import('node:test');
  after(() => void setTimeout(fail, PATIENCE_MS).unref());
}

function fail(): void {
  const kept = process.getActiveResourcesInfo().join(', ');
  writeSync(
    2,
    `${process.argv[1]} does not end ${PATIENCE_MS} ms after its last test, kept by: ${kept}\n`,
  );
  process.exit(1);
}
