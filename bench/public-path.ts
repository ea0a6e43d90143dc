import { circumstances, writePage } from './page.ts';
import { measureWays } from './public-path/ways.ts';
import { askedRounds } from './rounds.ts';
import { toTable } from './table.ts';

/**
 * Measures what a login and a limit cost the edge, on a path and beside it, in one run of a whole
 * gateway. Options: `--rounds`, `--requests` of a round, and `--quick` for a run that shows only
 * that all of it works. `node bench/public-path.ts --write` writes the page of results.
 */
const { rounds, requests, write } = askedRounds({ requests: 10_000, quick: 1_000 });
const began = circumstances();
const ways = await measureWays(rounds, requests);

const us = (value: number) => `${value.toFixed(1)} µs`;
const text = `# What a login costs beside its paths

${began} \`node bench/public-path.ts --write\`

CPU for a request from a client to a service and back, in rounds that alternate. One edge serves all
of these virtual hosts. The login is a JWT Filter that sets one header.

${toTable(
  'virtual host with',
  new Map(
    ways.map(({ name, times, us: { edge, 'ext-authz': checks, 'ratelimit-service': limits } }) => [
      name,
      new Map([
        ['Envoy', us(edge)],
        ['compared to neither', `${times.toFixed(2)} ×`],
        ['ext-authz', us(checks)],
        ['ratelimit-service', us(limits)],
      ]),
    ]),
  ),
)}`;
console.log(text);
if (write) writePage('public-path', text);
process.exit(0);
