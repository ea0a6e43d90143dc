import { parseArgs } from 'node:util';
import pino from 'pino';
import { startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { groupCompiler } from '#controlplane/group-compiler.ts';
import { ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { compileOptions } from '../cli/built-in-addresses.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf } from './process-usage.ts';
import { runTool } from './run-tool.ts';
import { toTable } from './table.ts';

/**
 * Measures what the number of Mappings costs: an Envoy's CPU for a request of the last of them, and
 * the bytes of routes that an edit of one sends to each proxy. Options: `--requests` of a
 * measurement, and `--quick` for a run that shows only that all of it works. `node bench/routes.ts
 * --write` writes the page of results.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '60000' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const requests = values.quick ? 2_000 : Number(values.requests);
const most = values.quick ? 300 : 10_000;
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

/** Returns an Envoy's CPU for a request, in µs. */
async function cpuOf(shape: Shape, count: number, longest: number): Promise<number> {
  process.env.LONGEST_LIST = String(longest);
  const envoy = await startCompiled(mappings(shape, count));
  const [url, ...headers] = shape.asked(count - 1);
  const ask = async (number: number) => {
    const args = [
      '--h1',
      '-n',
      String(number),
      '-c',
      '8',
      ...headers,
      `--connect-to=127.0.0.1:${envoy.port}`,
    ];
    const printed = await runTool('h2load', [...args, url], 120, 'install "nghttp2-client"');
    if (!printed.includes(` ${number} 3xx`)) throw new Error(`not all were redirected: ${printed}`);
  };
  await ask(200);
  const before = cpuMsOf(envoy.pid);
  await ask(requests);
  const after = cpuMsOf(envoy.pid);
  await envoy.stop();
  return ((after - before) * 1_000) / requests;
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
  const column = new Map<string, string>();
  const one = await cpuOf(shape, 1, Number.POSITIVE_INFINITY);
  const times = (us: number) => `${us.toFixed(1)} µs, ${(us / one).toFixed(2)} ×`;
  column.set('1 Mapping', `${one.toFixed(1)} µs`);
  column.set(`${most / 10}`, times(await cpuOf(shape, most / 10, 64)));
  column.set(`${most}`, times(await cpuOf(shape, most, 64)));
  column.set(`${most}, as lists`, times(await cpuOf(shape, most, Number.POSITIVE_INFINITY)));
  column.set('an edit of one, to each proxy', `${(bytesOfEdit(shape) / 1_000).toFixed(1)} KB`);
  columns.set(name, column);
}
const text = `# What the number of Mappings costs

${began} \`node bench/routes.ts --write\`

An Envoy's CPU for a request of the last Mapping, which Envoy answers itself (${requests} requests
each), and the bytes of routes that an edit of one Mapping sends:

${toTable('Mappings', columns)}`;
console.log(text);
if (values.write) writePage('routes', text);
process.exit(0);
