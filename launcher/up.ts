import { globSync, readFileSync, rmSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { acquireLock } from '#files/lock.cjs';
import { markState } from '#files/state-mark.ts';
import { misspeltVariables } from '#process/misspelt-variables.ts';
import type { JsonObject } from '#protos/json.ts';
import { announcement } from './announcement.ts';
import { serveControl } from './control-server.ts';
import { demoResources, hasProvider, SAMPLES } from './demo-resources.ts';
import { edgeAddress } from './edge-address.ts';
import { eventually } from './eventually.ts';
import { fewOpenFiles } from './open-files.ts';
import { orphanGuard } from './orphan-guard.ts';
import {
  controlplanePart,
  edgeAddresses,
  extAuthzPart,
  type Layout,
  loopback,
  rateLimitPart,
  sdsPart,
  servicePart,
} from './parts.ts';
import { checkPorts } from './port-check.ts';
import { portsAt } from './ports.ts';
import { type ReadinessOptions, whyNotReady } from './readiness.ts';
import { routesToTry } from './routes-to-try.ts';
import { makeStateFolder, type StateFolder, unusable } from './state-folder.ts';
import { type StopRequests, stopRequests } from './stop-requests.ts';
import { System } from './system.ts';
import { wantedPorts } from './wanted-ports.ts';
import { watchState } from './watch-state.ts';

export type UpOptions = {
  /** Instances of the sample service. Default: 2 for resources of ours, 0 for others. */
  readonly instances?: number;
  /** Default: the demo's. */
  readonly resources?: string;
  /** A file that declares instances of the operator's own services. */
  readonly services?: string;
  readonly state: string;
  readonly portOffset: number;
  /**
   * Returns the clusters that the resources name. The edge's bootstrap needs them beside the
   * discovery service at `sds`.
   */
  edgeDiscovery(sds: string): Promise<readonly JsonObject[]>;
  /**
   * Reads the variables of the service of this name as it does itself. Throws an Error for the
   * operator when one has a wrong value.
   */
  checkVariables(service: string, env: Layout['environment']): void;
  readonly now: () => number;
  /** One line for the operator. */
  say(line: string): void;
};

/**
 * The longest silence, in ms, while the system does not serve. Then it prints what is missing, each
 * time that this has passed.
 */
const LATE_MS = 60_000;

/**
 * Runs the whole gateway until it is asked to stop, and leaves nothing behind. Throws an Error for
 * the operator when it cannot begin: a missing folder, a variable with a wrong value, a port in
 * use, or a state folder that another gateway uses.
 */
export async function up(options: UpOptions): Promise<void> {
  const requests = stopRequests(options.now);
  try {
    const state = stateFor(options);
    const lock = takeState(state);
    const { instances = isSample(options.resources) ? 2 : 0 } = options;
    try {
      markState(state.path);
      // Envoy may have to be installed first.
      const layout = await Promise.race([prepare(state, options), requests.first]);
      if (layout === undefined) return;
      await runSystem(layout, { ...options, instances }, requests);
    } finally {
      lock.release();
    }
  } finally {
    requests.close();
  }
}

/** Makes the state folder when all that the operator has named can be used. */
function stateFor({ resources, services, state: path }: UpOptions): StateFolder {
  const own = resources === undefined ? undefined : ownResources(resources);
  for (const listed of [own, services, resolve(path)])
    if (listed?.includes(delimiter)) throw unlistable(listed);
  return makeStateFolder(path);
}

/** Needs the lock of the state folder. Another gateway may serve the demo that is copied there. */
async function prepare(
  state: StateFolder,
  { portOffset, resources, say, services }: UpOptions,
): Promise<Layout> {
  const provider = isSample(resources) && hasProvider();
  return {
    node: process.execPath,
    envoy: await envoyBinary({ say }),
    resources:
      resources === undefined
        ? demoResources({ portOffset, provider, folder: state.demo })
        : resolve(resources),
    ...(services === undefined ? {} : { services }),
    demo: resources === undefined,
    provider,
    state,
    ports: portsAt(portOffset),
    portOffset,
    environment: process.env,
  };
}

/** Tells whether resources are ours, which name the sample service. */
function isSample(resources: string | undefined): boolean {
  return resources === undefined || SAMPLES.includes(resolve(resources));
}

function ownResources(path: string): string {
  const folder = resolve(path);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return folder;
  const wrong = found === undefined ? 'does not exist' : 'is a file, not a folder';
  throw new Error(`The resources folder ${folder} ${wrong}: name yours with --resources`);
}

/** The control plane gets its folders as one list, and sds its files. */
function unlistable(path: string): Error {
  return new Error(
    `The path ${path} has "${delimiter}" in it, which separates paths in a list: use another name`,
  );
}

function takeState(state: StateFolder): { release(): void } {
  const lock = tryLock(state);
  if (lock.holder === undefined) return lock;
  throw new Error(
    `A gateway already runs on the state folder ${state.path} (pid ${lock.holder}): stop it, or start this one with another --state and --port-offset`,
  );
}

/** A folder that exists may be another user's, or on a disk that is full or read-only. */
function tryLock(state: StateFolder) {
  try {
    return acquireLock(state.lock);
  } catch (error) {
    throw unusable(state.path, error);
  }
}

type RunOptions = UpOptions & { readonly instances: number };

async function runSystem(
  layout: Layout,
  options: RunOptions,
  requests: StopRequests,
): Promise<void> {
  const { instances, portOffset } = options;
  checkParts(layout, options);
  await checkPorts(wantedPorts(portOffset, instances, layout.provider, edgeAddresses(layout)));
  for (const stale of globSync(join(layout.state.resources, 'user-service-*.yaml'))) rmSync(stale);
  const guard = orphanGuard();
  const { edgeDiscovery, now, say } = options;
  const system = new System({ layout, guard, edgeDiscovery, now, say });
  const socket = join(layout.state.sockets, 'up.sock');
  let control = await serveControl(socket, system);
  const restore = async () => {
    const { holder } = tryLock(layout.state);
    if (holder !== undefined && holder !== process.pid)
      throw new Error(`the gateway of process ${holder} uses it now`);
    if (layout.demo) demoResources({ ...layout, folder: layout.state.demo });
    system.restore();
    control.close();
    control = await serveControl(socket, system);
  };
  const endWatch = watchState({ state: layout.state, restore, say: options.say, every });
  void requests.urgent.then(() => system.kill());
  void requests.first.then(() => options.say('stopping, press Ctrl-C again to stop at once'));
  try {
    await Promise.race([serve(system, layout, options), requests.first]);
    await requests.first;
    await Promise.race([system.stop(), requests.urgent]);
  } finally {
    endWatch();
    control.close();
    await system.kill();
    guard.close();
  }
}

/** A service with a wrong value would end at its start, again and again. */
function checkParts(layout: Layout, { checkVariables, instances }: RunOptions): void {
  const parts = [controlplanePart, sdsPart, rateLimitPart, extAuthzPart].map(part => part(layout));
  for (const { env, name } of parts) checkVariables(name, { ...layout.environment, ...env });
  if (instances === 0) return;
  checkVariables('user-service', { ...layout.environment, ...servicePart(layout, 1).env });
}

/** Starts the system, waits until it serves, and announces it. */
async function serve(
  system: System,
  layout: Layout,
  { instances, now, say }: RunOptions,
): Promise<void> {
  const began = now();
  const { demo } = layout;
  const fleet = instances === 0 ? '' : ` ${instances} instances with a proxy each,`;
  say(`starting control plane, discovery,${fleet} and the edge ...`);
  const few = fewOpenFiles(limitsOfThis());
  if (few !== undefined) say(few);
  for (const sentence of misspeltVariables(process.env)) say(`warning: ${sentence}`);
  await Promise.all([system.start(instances), untilReady({ layout, system }, say)]);
  if (system.isStopping) return;
  const routes = demo ? undefined : await routesToTry(loopback(layout.ports.edgeAdmin), 3);
  const edge = await edgeAddress(layout);
  const tried = routes === undefined ? {} : { routes };
  say(announcement(layout, { instances, ms: now() - began, edge, ...tried }));
}

/** Only Linux tells them as a file. */
function limitsOfThis(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

async function untilReady(options: ReadinessOptions, say: (line: string) => void): Promise<void> {
  let reason: string | undefined;
  const isReady = async () => {
    reason = await whyNotReady(options);
    return reason === undefined || options.system.isStopping;
  };
  while (!(await eventually(isReady, LATE_MS))) say(`not ready yet: ${reason}`);
}

function every(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms).unref();
  return () => clearInterval(timer);
}
