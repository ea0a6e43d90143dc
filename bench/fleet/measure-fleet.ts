import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '#envoy/e2e/until.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { CLUSTER, ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { endProcess } from '../end-process.ts';
import { startControlPlane } from '../gateway-process.ts';
import { mappingsFile } from '../mappings.ts';
import { quantile } from '../quantile.ts';
import { type Received, startFleet } from './fleet.ts';
import { type Usage, usageOf } from './usage.ts';

/** One thing that all proxies waited for, and what it cost the control plane. */
export type Cost = Received & Usage;

export type FleetCosts = {
  readonly mappings: number;
  readonly proxies: number;
  /** All connect, with nothing. */
  readonly start: Cost;
  /** Memory for each connected proxy, in KiB. */
  readonly heldKib: number;
  /** The middle one of several edits of a route. */
  readonly route: Cost;
  /** The same for a new cluster and its route. */
  readonly cluster: Cost;
  /** All connect again at once, with what they hold, while a route is edited. */
  readonly storm: Cost;
};

/** What comes after the last proxy was sent a change, such as its ACK, in ms. */
const REST_MS = 1_000;
/** Few routes are a part of their table, many are virtual hosts of their own. */
const ROUTES = [ROUTE_CONFIGURATION, VIRTUAL_HOST];
const PROCESSES = 2;
/** Thousands of Mappings are parsed in this time, in ms. */
const LONGEST_MS = 300_000;
const FIRST_PORT = 41_001;
const MONITOR = join(import.meta.dirname, 'monitor.ts');

/** Measures a control plane process with so many Mappings and proxies. */
export async function measureFleet(
  mappings: number,
  proxies: number,
  edits: number,
): Promise<FleetCosts> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const resources = join(folder, 'resources');
  mkdirSync(resources);
  let change = 0;
  let port = FIRST_PORT;
  const host = () => `host-${change}-x.internal`;
  const write = () => {
    const text = mappingsFile(mappings, { servicePort: port, hostRewrite: host() });
    writeWhole(join(resources, 'mappings.yaml'), text);
  };
  write();
  const { child, http, xdsPort } = await startControlPlane(
    resources,
    join(folder, 'state'),
    { FIGURES: 'off' },
    ['--expose-gc', '--import', MONITOR],
  );
  const fleet = await startFleet(xdsPort, Math.min(PROCESSES, proxies));
  const measured = async (
    typeUrls: readonly string[],
    text: string,
    work: () => void | Promise<void>,
  ): Promise<Cost> => {
    await usageOf(child);
    const received = await fleet.until(typeUrls, text, work);
    await delay(REST_MS);
    return { ...received, ...(await usageOf(child)) };
  };
  const edit = (reconnects = false) => {
    change += 1;
    return measured(ROUTES, host(), async () => {
      write();
      if (!reconnects) return;
      await fleet.close();
      await fleet.open(proxies);
    });
  };
  const move = () => {
    // A service that was there a moment ago would still have its cluster.
    port += 1;
    return measured([CLUSTER], String(port), write);
  };
  try {
    await until(() => isReady(`http://${http}/readyz`), LONGEST_MS);
    const { held: alone } = await usageOf(child, true);
    const start = await measured(ROUTES, host(), () => fleet.open(proxies));
    await delay(REST_MS);
    const { held } = await usageOf(child, true);
    const routes = await times(edits, () => edit());
    const clusters = await times(edits, move);
    const storm = await edit(true);
    return {
      ...{ mappings, proxies, start, storm },
      heldKib: ((held - alone) * 1024) / proxies,
      route: middle(routes),
      cluster: middle(clusters),
    };
  } finally {
    await fleet.stop();
    await endProcess(child);
    rmSync(folder, { recursive: true });
  }
}

/** A process that parses for seconds may cut off a connection that was quiet meanwhile. */
async function isReady(url: string): Promise<true | undefined> {
  const answer = await fetch(url).catch(() => undefined);
  return answer?.ok === true ? true : undefined;
}

async function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let time = 0; time < count; time++) results.push(await work());
  return results;
}

/** The middle of each figure by itself, and the highest of those that are maxima. */
function middle(costs: readonly Cost[]): Cost {
  const of = (name: keyof Cost, q = 0.5) =>
    quantile(
      costs.map(cost => cost[name]),
      q,
    );
  return {
    ...{ ms: of('ms'), bytes: of('bytes'), messages: of('messages'), cpuMs: of('cpuMs') },
    lost: of('lost', 1),
    ...{ longestMs: of('longestMs', 1), rss: of('rss', 1), held: of('held', 1) },
  };
}
