/**
 * Measures what a rate limit decision costs without gRPC: matching, counting in memory, judging and
 * templates. Prints one Markdown table, and with `--write` writes the page of results. The cost
 * must not grow with the number of limits.
 */
import { findType } from '#protos/root.ts';
import { decide } from '#ratelimit-service/decide.ts';
import { compileLimits } from '#ratelimit-service/limits-index.ts';
import { MemoryCounterStore } from '#ratelimit-service/memory-counter-store.ts';
import type { RateLimitRequest } from '#ratelimit-service/request.ts';
import { type LimitJson, label, limitsOf } from '#ratelimit-service/testing/limits.ts';
import { circumstances, writePage } from './page.ts';
import { toTable } from './table.ts';

const ROUNDS = 5;
const DECISIONS = 200_000;
const CLIENTS = 1_000;
const RATE = 4_000_000_000;

type Case = {
  readonly limits: readonly LimitJson[];
  readonly groups: (client: number) => readonly string[];
};

const byAddress = (limit: LimitJson = {}): LimitJson => ({
  pattern: ['remote_address'],
  rate: RATE,
  ...limit,
});
const ofAddress = (client: number) => [`remote_address=10.0.0.${client} path=/0`];
const inject = (value: string): LimitJson =>
  byAddress({ inject_response_headers: [{ name: 'x', value }] });

const CASES: ReadonlyMap<string, Case> = new Map([
  ['1 limit', { limits: [byAddress()], groups: ofAddress }],
  ['no limit matches', { limits: [byAddress({ pattern: ['other'] })], groups: ofAddress }],
  [
    '2 limits of one pattern',
    { limits: [byAddress(), byAddress({ unit: 'HOUR' })], groups: ofAddress },
  ],
  [
    '3 descriptors, a limit each',
    {
      limits: ['remote_address', 'a', 'b'].map(pattern => byAddress({ pattern: [pattern] })),
      groups: client => [...ofAddress(client), 'a=1', 'b=1'],
    },
  ],
  ['exceeded', { limits: [byAddress({ rate: 0 })], groups: ofAddress }],
  ['a plain header', { limits: [inject('text')], groups: ofAddress }],
  [
    'a header template',
    { limits: [inject('{{ .RetryAfter.Seconds | printf "%.0f" }}')], groups: ofAddress },
  ],
  [
    'exceeded, a body of all in JSON',
    {
      limits: [byAddress({ rate: 0, error_response: { body_template: '{{ json "" . }}' } })],
      groups: ofAddress,
    },
  ],
  ...[1, 100, 10_000].flatMap((count): readonly [string, Case][] => [
    [
      `first labels differ, limits: ${count}`,
      { limits: many(count, index => [`k=${index}`]), groups: () => ['k=0'] },
    ],
    [
      `first label shared, limits: ${count}`,
      { limits: many(count, index => ['remote_address', `path=/${index}`]), groups: ofAddress },
    ],
  ]),
]);

function many(count: number, pattern: (index: number) => readonly string[]): readonly LimitJson[] {
  return Array.from({ length: count }, (_, index) => byAddress({ pattern: pattern(index) }));
}

/** Returns the CPU time of one decision in µs, in the best of some rounds. */
function measure({ limits, groups }: Case): number {
  const index = compileLimits(limitsOf('d', limits));
  const store = new MemoryCounterStore({ now: Date.now });
  const requests = Array.from({ length: CLIENTS }, (_, client) => requestOf(groups(client)));
  const round = () => {
    const begun = process.cpuUsage();
    for (let at = 0; at < DECISIONS; at++)
      decide(index, store, requests[at % CLIENTS] as RateLimitRequest, 'id');
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / DECISIONS;
  };
  return Math.min(...Array.from({ length: ROUNDS }, round));
}

function requestOf(groups: readonly string[]): RateLimitRequest {
  const type = findType('envoy.service.ratelimit.v3.RateLimitRequest');
  if (type === undefined) throw new Error('no type of requests');
  const json = {
    domain: 'd',
    descriptors: groups.map(group => ({ entries: group.split(' ').map(label) })),
  };
  return type.decode(type.encode(type.fromObject(json)).finish()) as unknown as RateLimitRequest;
}

const begun = circumstances();
const costs = new Map([...CASES].map(([name, item]) => [name, measure(item).toFixed(2)]));
const table = toTable('one decision', new Map([['µs of CPU', costs]]));
process.stdout.write(table);
if (process.argv.includes('--write'))
  writePage(
    'rate-limit-decision',
    `# One rate limit decision

${begun} \`node bench/rate-limit-decision.ts --write\`

Counters in memory, without gRPC. CPU time, the best of ${ROUNDS} rounds of
${DECISIONS.toLocaleString('en')} decisions. The goal is at most 10 µs, and the same for 1 and 10,000
limits.

${table}`,
  );
