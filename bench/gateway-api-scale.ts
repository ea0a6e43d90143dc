import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { until } from '#envoy/e2e/until.ts';
import { type Following, follow } from '#kubernetes/follow.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { whyNoKubeApiserver } from '#kubernetes/testing/kube-apiserver.ts';
import { patchObject } from '#kubernetes/write.ts';
import { after } from '#process/after.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { whyNoGatewayApi } from '#resources/kubernetes/testing/gateway-api.ts';
import {
  createAll,
  GATEWAYS,
  gateway,
  HTTP_ROUTES,
  hostOf,
  httpRoute,
  pathOf,
  type Route,
} from './gateway-api/routes.ts';
import { type ScaleSystem, startScaleSystem } from './gateway-api/system.ts';
import { circumstances, writePage } from './page.ts';
import { cpuMsOf, memoryOf } from './process-usage.ts';
import { medianAndP99 } from './quantile.ts';
import { toTable } from './table.ts';

/**
 * Run `npx node bench/gateway-api-scale.ts --write`, as root. It measures how long thousands of
 * HTTPRoutes take from their creation in a real Kubernetes API until all are accepted and served,
 * and what an edit of one costs then. Prints a table, and with `--write` writes it to
 * `bench/results/gateway-api-scale.md`.
 */
type Case = { readonly gateways: number; readonly routes: number };

/** The second is the largest case of Envoy Gateway's benchmark. */
const CASES: readonly Case[] = [
  { gateways: 1, routes: 100 },
  { gateways: 1, routes: 1_000 },
  { gateways: 100, routes: 5_000 },
];
/** So many Gateways have a real Envoy, since a hundred do not fit beside the rest. */
const ENVOYS = 2;
const EDITS = 30;
const LONGEST_MS = 180_000;
/** The pause before edits, in ms. */
const REST_MS = 3_000;
const REPLACED = { type: 'ReplaceFullPath', replaceFullPath: '/' };
/** Between two questions for a route that is not served yet, in ms. */
const POLL_MS = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean' } },
});
const why = whyNoKubeApiserver() ?? whyNoGatewayApi();
if (why !== undefined) throw new Error(why);
const [asked] = positionals;
const begun = circumstances();
const columns = new Map<string, ReadonlyMap<string, string>>();
for (const each of CASES) {
  const title = `${each.routes.toLocaleString('en')} on ${each.gateways}`;
  if (asked !== undefined && !title.startsWith(asked)) continue;
  columns.set(title, await measure(each));
  process.stderr.write(toTable(title, new Map([[title, columns.get(title) ?? new Map()]])));
}
const table = toTable('HTTPRoutes on Gateways', columns);
process.stdout.write(table);
if (values.write) writePage('gateway-api-scale', page(table));

async function measure(size: Case): Promise<ReadonlyMap<string, string>> {
  const system = await startScaleSystem();
  try {
    return await measureIn(system, size);
  } finally {
    await system.stop();
  }
}

async function measureIn(system: ScaleSystem, { gateways, routes }: Case) {
  const { api, plane } = system;
  const names = Array.from({ length: gateways }, (_, index) => `gateway-${index}`);
  const real = names.slice(0, ENVOYS);
  const ports = new Map<string, number>();
  for (const name of real) ports.set(name, await system.freePort());
  const envoys = await Promise.all(real.map(name => system.startProxy(name)));
  for (const name of names.slice(ENVOYS)) system.followAsProxy(name);

  const createGateways = performance.now();
  const programmed = whenAll(api.admin, GATEWAYS, gateways, isProgrammed);
  await createAll(
    api.admin,
    GATEWAYS,
    names.map(name => gateway(name, ports.get(name) ?? 80)),
  );
  const programmedMs = (await programmed) - createGateways;
  process.stderr.write(`${gateways} Gateways are programmed\n`);

  const all = Array.from(
    { length: routes },
    (_, index): Route => ({ gateway: names[index % gateways] ?? '', index }),
  );
  const before = { plane: cpuMsOf(plane.pid), api: cpuMsOf(api.pid()) };
  const start = performance.now();
  const accepted = whenAll(api.admin, HTTP_ROUTES, routes, isAccepted);
  const served = Promise.all(
    real.map(name =>
      whenServed(
        ports.get(name) ?? 0,
        all.filter(route => route.gateway === name),
      ),
    ),
  );
  await createAll(api.admin, HTTP_ROUTES, all.map(httpRoute));
  const createdMs = performance.now() - start;
  const acceptedMs = (await accepted) - start;
  const servedMs = Math.max(...(await served)) - start;
  const used = { plane: cpuMsOf(plane.pid) - before.plane, api: cpuMsOf(api.pid()) - before.api };
  process.stderr.write(`${routes} routes are served\n`);
  const attached = whenAll(api.admin, GATEWAYS, gateways, has(routes / gateways));
  const attachedMs = (await attached) - start;
  await delay(REST_MS);
  const writes = await statusWrites(plane.http);
  const edits = await edit(system, all, ports);
  const memory = memoryOf(plane.pid);
  const proxies = envoys.map(({ pid }) => memoryOf(pid).now);
  return new Map([
    ['create Gateways → all Programmed, s', seconds(programmedMs)],
    ['create routes, 20 at a time: the last is in the API, s', seconds(createdMs)],
    ['**… → the last is Accepted, s**', seconds(acceptedMs)],
    ['**… → a real Envoy answers on every route, s**', seconds(servedMs)],
    ['… → each Gateway counts its routes, s', seconds(attachedMs)],
    ['writes of status', String(writes)],
    ['CPU of the control plane until all are accepted and served, s', seconds(used.plane)],
    ['CPU of the API server, s', seconds(used.api)],
    ['one edit → changed answer of Envoy, ms (median / p99)', medianAndP99(edits.answered)],
    ['one edit → its status, ms (median / p99)', medianAndP99(edits.observed)],
    ['CPU of the control plane for one edit, ms', (edits.cpuMs / EDITS).toFixed(0)],
    [
      'memory of the control plane, MiB (at its highest)',
      `${memory.now.toFixed(0)} (${memory.highest.toFixed(0)})`,
    ],
    ['memory of one Envoy, MiB', Math.max(...proxies).toFixed(0)],
  ]);
}

type Watched = KubernetesObject & {
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly listeners?: readonly { readonly attachedRoutes: number }[];
    readonly parents?: readonly { readonly conditions: readonly Condition[] }[];
  };
};

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration: number;
};

function isProgrammed({ status }: Watched): boolean {
  return status?.conditions?.some(isTrue('Programmed')) === true;
}

function isAccepted({ metadata, status }: Watched): boolean {
  const [parent] = status?.parents ?? [];
  return (
    parent?.conditions.every(({ observedGeneration: of }) => of === metadata.generation) === true &&
    ['Accepted', 'ResolvedRefs'].every(type => parent.conditions.some(isTrue(type)))
  );
}

function isTrue(wanted: string) {
  return ({ type, status }: Condition) => type === wanted && status === 'True';
}

/** Tells a Gateway whose listener has so many routes. */
function has(routes: number) {
  return ({ status }: Watched) => status?.listeners?.[0]?.attachedRoutes === routes;
}

/** Resolves with the time at which so many objects are as wanted. */
function whenAll(
  cluster: ScaleSystem['api']['admin'],
  resource: typeof GATEWAYS,
  count: number,
  isDone: (object: Watched) => boolean,
): Promise<number> {
  const done = new Set<string>();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => end(() => reject(new Error(`${done.size} of ${count} ${resource.plural}`))),
      LONGEST_MS,
    );
    const following: Following = follow<Watched>({
      cluster,
      resource,
      read: object => object as Watched,
      onChange(objects, changed) {
        for (const key of changed.size === 0 ? objects.keys() : changed) {
          const object = objects.get(key);
          if (object !== undefined && isDone(object)) done.add(key);
        }
        if (done.size >= count) end(() => resolve(performance.now()));
      },
      after,
      random: Math.random,
    });
    const end = (then: () => void) => {
      clearTimeout(timer);
      following.close();
      then();
    };
  });
}

/** Resolves with the time at which the proxy at this port has answered on every route. */
async function whenServed(port: number, routes: readonly Route[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const route of routes) await untilAnswer(agent, port, route, 200);
  agent.destroy();
  return performance.now();
}

async function untilAnswer(agent: Agent, port: number, route: Route, status: number) {
  const deadline = performance.now() + LONGEST_MS;
  while ((await statusOf(agent, port, route)) !== status) {
    if (performance.now() > deadline) throw new Error(`${pathOf(route)} is not ${status}`);
    await delay(POLL_MS);
  }
}

/** Resolves with 0 when there is no answer. */
function statusOf(agent: Agent, port: number, route: Route): Promise<number> {
  const headers = { host: hostOf(route) };
  return new Promise(resolve => {
    const asking = request({ agent, port, path: pathOf(route), headers }, answer => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    asking.on('error', () => resolve(0)).end();
  });
}

/** Edits routes one after the other, so that they answer with a redirect and then as before. */
async function edit(
  { api, plane }: ScaleSystem,
  routes: readonly Route[],
  ports: ReadonlyMap<string, number>,
) {
  const [answered, observed]: [number[], number[]] = [[], []];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const mine = routes.filter(({ gateway: name }) => ports.has(name));
  const cpuMs = cpuMsOf(plane.pid);
  for (let index = 0; index < EDITS; index += 1) {
    const route = mine[(index * 7) % mine.length];
    if (route === undefined) throw new Error('There is no route');
    const object = httpRoute(route);
    const { name } = object.metadata;
    const [rule] = (object.spec as { readonly rules: readonly object[] }).rules;
    const redirect = {
      type: 'RequestRedirect',
      requestRedirect: { statusCode: 302, path: REPLACED },
    };
    const rules = [{ ...rule, backendRefs: null, filters: [redirect] }];
    const start = performance.now();
    const target = { cluster: api.admin, resource: HTTP_ROUTES };
    const written = await patchObject(target, name, { spec: { rules } });
    if (written.kind !== 'written') throw new Error(written.message);
    const changed = written.object;
    const seen = until(async () => {
      const [path, method] = [
        `/apis/${HTTP_ROUTES.group}/v1/namespaces/${HTTP_ROUTES.namespace}/httproutes/${name}`,
        'GET',
      ] as const;
      const { body } = await api.admin.call({ method, path });
      const now = body as Watched;
      return (
        (now.metadata.generation === changed.metadata.generation && isAccepted(now)) || undefined
      );
    }, LONGEST_MS).then(() => observed.push(performance.now() - start));
    await untilAnswer(agent, ports.get(route.gateway) ?? 0, route, 302);
    answered.push(performance.now() - start);
    await seen;
  }
  agent.destroy();
  return { answered, observed, cpuMs: cpuMsOf(plane.pid) - cpuMs };
}

async function statusWrites(http: string): Promise<number> {
  const text = await (await fetch(`${http}/metrics`)).text();
  const lines = text.matchAll(/^gateway_status_writes_total\{.*result="written".*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

function page(table: string): string {
  return `# Thousands of HTTPRoutes
${begun} Envoy ${ENVOY_VERSION}, a real kube-apiserver with etcd on the same machine, with API Priority and Fairness. Each Gateway has proxies of its own, ${ENVOYS} of them real Envoys. The others are clients that accept all that they are sent.
Each route has a path of its own, and five hostnames are shared. CPU time is of one core. Made by \`npx node bench/gateway-api-scale.ts --write\`.

${table}
## Beside Envoy Gateway

Envoy Gateway publishes a report for 10 to 1,000 HTTPRoutes on one Gateway. It was made on another machine, and its routes were created one after the other, so compare the orders of size.

| 1,000 HTTPRoutes on one Gateway | Envoy Gateway | source |
|---|---:|---|
| CPU of the control plane, s | 61 | [report of March 2025](https://github.com/envoyproxy/gateway/pull/5580) |
| memory of the control plane's container, MiB | 208 | the same |
| memory of its process at its highest, MiB | 94 | [report of May 2026](https://github.com/envoyproxy/gateway/pull/8951) |
| memory of one Envoy, MiB | 124 | report of March 2025 |
| time until all are accepted, s | 15 and more are expected | [its page of metrics](https://github.com/envoyproxy/gateway/blob/main/test/benchmark/ROUTE_PROPAGATION_METRICS.md) |
`;
}
