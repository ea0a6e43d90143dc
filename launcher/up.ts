import { globSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { announcement } from './announcement.ts';
import { serveControl } from './control-server.ts';
import { eventually } from './eventually.ts';
import { acquireLock } from './lock.cjs';
import { orphanGuard } from './orphan-guard.ts';
import type { Layout } from './parts.ts';
import { checkPorts, type WantedPort } from './port-check.ts';
import { instancePorts, portsAt } from './ports.ts';
import { whyNotReady } from './readiness.ts';
import { makeStateFolder, type StateFolder } from './state-folder.ts';
import { type StopRequests, stopRequests } from './stop-requests.ts';
import { System } from './system.ts';

export type UpOptions = {
  readonly instances: number;
  /** Absent: the demo's. */
  readonly resources?: string;
  readonly state: string;
  readonly portOffset: number;
  readonly now: () => number;
  /** One line for the operator. */
  say(line: string): void;
};

const ROOT = join(import.meta.dirname, '..');
const DEMO = join(ROOT, 'envoy', 'resources');

/** After this time it is said what is missing, in ms, and again each time that it has passed. */
const LATE_MS = 60_000;

/**
 * Runs the whole gateway until it is asked to stop, and leaves nothing behind. Throws an Error for the operator when it cannot even
 * begin: a folder that is not there, a port in use, a state folder that another gateway uses.
 */
export async function up(options: UpOptions): Promise<void> {
  const requests = stopRequests(options.now);
  try {
    const layout = await prepare(options);
    const lock = takeState(layout.state);
    try {
      await runSystem(layout, options, requests);
    } finally {
      lock.release();
    }
  } finally {
    requests.close();
  }
}

async function prepare({ portOffset, resources = DEMO, say, state }: UpOptions): Promise<Layout> {
  const folder = resolve(resources);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`The resources folder ${folder} does not exist: name yours with --resources`);
  }
  return {
    root: ROOT,
    node: process.execPath,
    envoy: await envoyBinary({ say }),
    resources: folder,
    state: makeStateFolder(state),
    ports: portsAt(portOffset),
    portOffset,
  };
}

function takeState(state: StateFolder): { release(): void } {
  const lock = acquireLock(state.lock);
  if (lock.holder === undefined) return lock;
  throw new Error(
    `A gateway already runs on the state folder ${state.path} (pid ${lock.holder}): stop it, or start this one with another --state and --port-offset`,
  );
}

async function runSystem(layout: Layout, options: UpOptions, requests: StopRequests): Promise<void> {
  await checkPorts(wantedPorts(layout, options.instances));
  for (const stale of globSync(join(layout.state.resources, 'user-service-*.yaml'))) rmSync(stale);
  const guard = orphanGuard();
  const system = new System({ layout, guard, now: options.now, say: options.say });
  const control = await serveControl(join(layout.state.sockets, 'up.sock'), system);
  void requests.urgent.then(() => system.kill());
  void requests.first.then(() => options.say('stopping; once more Ctrl-C: at once'));
  try {
    await Promise.race([serve(system, layout, options, requests), requests.first]);
    await requests.first;
    await Promise.race([system.stop(), requests.urgent]);
  } finally {
    control.close();
    await system.kill();
    guard.close();
  }
}

/** Starts the system and says when it is ready. */
async function serve(
  system: System,
  layout: Layout,
  options: UpOptions,
  requests: StopRequests,
): Promise<void> {
  const { instances, now, resources, say } = options;
  const began = now();
  say(`starting control plane, discovery, ${instances} instances with a proxy each, and the edge ...`);
  const started = system.start(instances);
  let reason: string | undefined;
  const isReady = async () => {
    reason = await whyNotReady({ layout, system, demo: resources === undefined });
    return reason === undefined || requests.isStopping;
  };
  while (!(await eventually(isReady, LATE_MS))) say(`not ready yet: ${reason}`);
  await started;
  if (!requests.isStopping) say(announcement(layout, { demo: resources === undefined, ms: now() - began }));
}

function wantedPorts({ portOffset, ports }: Layout, instances: number): readonly WantedPort[] {
  const numbers = Array.from({ length: instances }, (_, index) => index + 1);
  return [
    { port: ports.edge, what: 'the edge' },
    { port: ports.http, what: 'the control plane (HTTP)' },
    { port: ports.xds, what: 'the control plane (xDS)' },
    { port: ports.sds, what: 'the discovery service' },
    { port: ports.edgeAdmin, what: "the edge Envoy's admin interface" },
    ...numbers.flatMap(number => {
      const { proxy, service } = instancePorts(portOffset, number);
      return [
        { port: proxy, what: `the proxy of user-service-${number}` },
        { port: service, what: `user-service-${number}` },
      ];
    }),
  ];
}
