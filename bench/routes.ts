import pino from 'pino';
import { startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { groupCompiler } from '#controlplane/group-compiler.ts';
import { ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { compileOptions } from '../cli/built-in-addresses.ts';
import { type Arm, cpuInTurn } from './cpu-in-turn.ts';
import { circumstances, writePage } from './page.ts';
import { askedRounds } from './rounds.ts';
import { runTool } from './run-tool.ts';
import { toTable } from './table.ts';

/**
 * Measures what the number of Mappings costs: an Envoy's CPU for a request of the last of them, and
 * the bytes of routes that an edit of one sends to each proxy. Options: `--rounds`, `--requests` of
 * a round, and `--quick` for a run that shows only that all of it works. `node bench/routes.ts
 * --write` writes the page of results.
 */
const { rounds, requests, write } = askedRounds({ requests: 5_000, quick: 1_000 });
const most = process.argv.includes('--quick') ? 300 : 10_000;
const began = circumstances();

/** Mappings that Envoy answers itself, and what asks for the last one. */
type Shape = {
  /** Fields of one Mapping. */
  fields(index: number): string;
  /** URL, then arguments of h2load. */
  asked(index: number): readonly [url: string, ...args: readonly string[]];
};

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  [
    'a prefix each',
    {
      fields: index => `prefix: /svc-${index}/api/`,
      asked: index => [`http://any.test/svc-${index}/api/x`],
    },
  ],
  [
    'a prefix each, one host',
    {
      fields: index => `host: shop.test, prefix: /svc-${index}/api/`,
      asked: index => [`http://shop.test/svc-${index}/api/x`],
    },
  ],
  [
    'a host each',
    {
      fields: index => `host: shop-${index}.test, prefix: /api/`,
      asked: index => [`http://shop-${index}.test/api/x`],
    },
  ],
  [
    'one prefix, a value of a header each',
    {
      fields: index => `prefix: /api/, headers: {x-tenant: tenant-${index}}`,
      asked: index => ['http://any.test/api/x', '-H', `x-tenant: tenant-${index}`],
    },
  ],
]);

function mappings({ fields }: Shape, count: number, service = 'elsewhere.test'): string {
  return Array.from(
    { length: count },
    (_, index) =>
      `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m${index}}\nspec: {${fields(index)}, host_redirect: true, service: ${index === count - 1 ? service : 'elsewhere.test'}}\n`,
  ).join('---\n');
}

/** An Envoy with so many Mappings, of which a longer list becomes a tree. */
type Variant = { readonly count: number; readonly longest: number };

const VARIANTS: ReadonlyMap<string, Variant> = new Map([
  ['1 Mapping', { count: 1, longest: Number.POSITIVE_INFINITY }],
  ['1 Mapping, once more', { count: 1, longest: Number.POSITIVE_INFINITY }],
  [`${most / 10}`, { count: most / 10, longest: 64 }],
  [`${most}`, { count: most, longest: 64 }],
  [`${most}, as lists`, { count: most, longest: Number.POSITIVE_INFINITY }],
]);

/** Returns the CPU for a request of an Envoy of each variant, in µs. They take turns. */
async function cpuOf(shape: Shape): Promise<readonly number[]> {
  const envoys: (Arm & { stop(): Promise<void> })[] = [];
  for (const { count, longest } of VARIANTS.values()) {
    process.env.LONGEST_LIST = String(longest);
    const envoy = await startCompiled(mappings(shape, count));
    const [url, ...headers] = shape.asked(count - 1);
    const to = `--connect-to=127.0.0.1:${envoy.port}`;
    const args = ['--h1', '-n', String(requests), '-c', '8', ...headers, to, url];
    const send = async () => {
      const printed = await runTool('h2load', args, 120, 'install "nghttp2-client"');
      if (!printed.includes(` ${requests} 3xx`))
        throw new Error(`not all were redirected: ${printed}`);
    };
    envoys.push({ pids: [envoy.pid], send, stop: () => envoy.stop() });
  }
  const stopAll = () => Promise.all(envoys.map(({ stop }) => stop()));
  const costs = await cpuInTurn(envoys, { rounds, requests }).finally(stopAll);
  return costs.map(([us = 0]) => us);
}

/** Returns the bytes of routes that change with one of so many Mappings. */
function bytesOfEdit(shape: Shape): number {
  const compile = groupCompiler(compileOptions({}), pino({ level: 'silent' }));
  const [before, after] = ['a.test', 'b.test'].map(service => {
    const compiled = compile(resourceSetOf(mappings(shape, most, service)).resources, 'edge');
    if ('error' in compiled) throw new Error(compiled.error);
    return compiled.snapshot;
  });
  const changed = [ROUTE_CONFIGURATION, VIRTUAL_HOST].flatMap(type =>
    [...(after?.get(type)?.values() ?? [])].filter(
      ({ name, version }) => before?.get(type)?.get(name)?.version !== version,
    ),
  );
  return changed.reduce((sum, { any }) => sum + any.value.length, 0);
}

const columns = new Map<string, ReadonlyMap<string, string>>();
for (const [name, shape] of SHAPES) {
  const costs = await cpuOf(shape);
  const [one = 0] = costs;
  const column = new Map(
    [...VARIANTS.keys()].map((variant, n) => {
      const us = costs[n] ?? 0;
      return [variant, `${us.toFixed(1)} µs, ${(us / one).toFixed(2)} ×`];
    }),
  );
  column.set('an edit of one, to each proxy', `${(bytesOfEdit(shape) / 1_000).toFixed(1)} KB`);
  columns.set(name, column);
}
const text = `# What the number of Mappings costs

${began} \`node bench/routes.ts --write\`

An Envoy's CPU for a request of the last Mapping, which Envoy answers itself, in ${rounds} rounds of
${requests} requests, in which the Envoys take turns. Then the bytes of routes that an edit of one
Mapping sends.

${toTable('Mappings', columns)}`;
console.log(text);
if (write) writePage('routes', text);
process.exit(0);
