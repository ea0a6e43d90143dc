import { parseArgs } from 'node:util';
import { measureEdge } from './figures/edge-cost.ts';
import { measureMemory } from './figures/memory.ts';
import { measureService } from './figures/service-cost.ts';
import { circumstances, writePage } from './page.ts';
import { toTable } from './table.ts';

/**
 * Measures what figures cost: an edge's CPU for a request with them and without, in one run, the
 * CPU of the service for a flush of many proxies, and its memory over many requests. Options:
 * `--rounds`, `--requests` of a round, `--routes`, `--proxies`, and `--quick` for a run that shows
 * only that all of it works. `node bench/figures.ts --write` writes the page of results.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '12' },
    requests: { type: 'string', default: '10000' },
    routes: { type: 'string', default: '10000' },
    proxies: { type: 'string', default: '200' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const { quick } = values;
const number = (text: string, least: number) => (quick ? least : Number(text));
const began = circumstances();
const routes = number(values.routes, 500);

const edge = await measureEdge(number(values.rounds, 2), number(values.requests, 1_000));
const proxies = number(values.proxies, 20);
const service = await measureService(routes, proxies, quick ? 2 : 10);
const total = quick ? 100_000 : 10_000_000;
const memory = measureMemory(routes, total);

const us = (value: number) => `${value.toFixed(1)} µs`;
const text = `# What figures cost

${began} \`node bench/figures.ts --write\`

An edge's CPU for a request, side by side in rounds that alternate:

${toTable(
  '',
  new Map(
    edge.map(({ name, envoyUs, times }) => [
      name,
      new Map([
        ['CPU of Envoy', us(envoyUs)],
        ['compared to off', `${times.toFixed(3)} ×`],
      ]),
    ]),
  ),
)}
The service with ${proxies} proxies, two of them edges with ${routes} routes and clusters in use:

${toTable(
  'one flush of all (every 5 s)',
  new Map([
    [
      '',
      new Map([
        ['messages', String(service.messages)],
        ['MiB', (service.bytes / 2 ** 20).toFixed(1)],
        ['CPU', `${service.cpuMs.toFixed(0)} ms`],
        ['longest pause', `${service.longestMs.toFixed(0)} ms`],
        ['memory of the process', `${service.rss.toFixed(0)} MiB`],
      ]),
    ],
  ]),
)}
Memory over ${total} requests of ${routes} routes, one in ten sampled:

${toTable('requests', new Map(['heap', 'arrays'].map(kind => [kind, new Map(memory.map(each => [String(each.requests), `${each[kind as 'heap' | 'arrays'].toFixed(1)} MiB`]))])))}`;
console.log(text);
if (values.write) writePage('figures', text);
process.exit(0);
