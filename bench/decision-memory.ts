import { callsOf, inTurn, ofNewKeys } from './h2/calls.ts';
import { type Decider, startCheck, startRateLimit } from './h2/deciders.ts';
import { askAsFastAsPossible } from './h2/decision-load.ts';
import { circumstances, writePage } from './page.ts';
import { memoryOf } from './process-usage.ts';
import { readRun, say } from './short-run.ts';
import { toTable } from './table.ts';

/**
 * Run `npx node bench/decision-memory.ts [millions]`. It measures what our services hold after each
 * million of 10 million calls, on our own framing. The memory must be flat. Prints a table and
 * writes it to `bench/results/decision-memory.md`. Given a number of millions it only prints. A
 * whole run takes about 20 minutes, at most 40, because a column ends after 10, wherever it is.
 */
const MILLIONS = 10;
const LOOKS = 10;
const LONGEST_COLUMN_MS = 600_000;
const CONNECTIONS = 4;
const AT_ONCE = 64;
const SESSIONS = 1_000;

type Column = {
  readonly name: string;
  readonly start: () => Promise<Decider>;
  /** Returns the next request. Default: the decider's own messages. */
  readonly next?: () => Uint8Array;
};

const COLUMNS: readonly Column[] = [
  { name: 'rate limit, one counter', start: () => startRateLimit('framed') },
  {
    name: 'rate limit, a new counter each time, for a second',
    start: () => startRateLimit('framed', 'SECOND'),
    next: ofNewKeys(),
  },
  {
    name: 'rate limit, a new counter each time, for a minute',
    start: () => startRateLimit('framed'),
    next: ofNewKeys(),
  },
  {
    name: `check, ${SESSIONS.toLocaleString('en')} sessions`,
    start: () => startCheck('framed', SESSIONS),
  },
];

const { isWhole, size: millions } = readRun(MILLIONS, 'millions of decisions');
const begun = circumstances();
const decisionsALook = Math.ceil((millions * 1_000_000) / LOOKS);
const columns = new Map<string, ReadonlyMap<string, string>>();
for (const column of COLUMNS) columns.set(column.name, await measure(column));
const table = toTable('decisions so far', columns);
process.stdout.write(table);
if (isWhole) writePage('decision-memory', page(table));

async function measure({ name, next, start }: Column): Promise<ReadonlyMap<string, string>> {
  const decider = await start();
  const rows = new Map<string, string>();
  const ends = performance.now() + LONGEST_COLUMN_MS;
  try {
    const calls = callsOf({ path: decider.path, next: next ?? inTurn(decider.messages) });
    for (let look = 1; look <= LOOKS && performance.now() < ends; look++) {
      const enough = (answered: number) => answered >= decisionsALook;
      const target = { port: decider.port, connections: CONNECTIONS, calls };
      const { ms } = await askAsFastAsPossible({ ...target, atOnce: AT_ONCE, enough });
      const { highest, now } = memoryOf(decider.service);
      const held = `${now.toFixed(0)} / ${highest.toFixed(0)}`;
      rows.set((look * decisionsALook).toLocaleString('en'), held);
      say(`${name}: ${look} of ${LOOKS} in ${(ms / 1_000).toFixed(0)} s: ${held} MiB`);
    }
  } finally {
    await decider.stop();
  }
  return rows;
}

function page(text: string): string {
  return `# What our services hold after ten million decisions
${begun} Memory of the service (its resident set), now / at its highest so far, in MiB. gRPC straight to the service, on our own framing, over ${CONNECTIONS} connections with
${AT_ONCE} calls at a time. Counters are in memory, at most 500,000, which those of a minute reach. From then on new keys share the rest. Sessions are in a file, each with
an access token of its own. Made by \`npx node bench/decision-memory.ts\`.

${text}`;
}
