import type { JsonObject } from '#protos/json.ts';
import { drainEnvoy } from './drain-envoy.ts';
import { eventually } from './eventually.ts';
import { Fleet } from './fleet.ts';
import type { OrphanGuard } from './orphan-guard.ts';
import {
  controlplanePart,
  edgePart,
  extAuthzPart,
  identityProviderPart,
  type Layout,
  loopback,
  rateLimitPart,
  sdsPart,
} from './parts.ts';
import { partStarter, type StartPart } from './start-part.ts';
import type { SupervisedChild } from './supervised-child.ts';
import { writeBootstrap } from './write-bootstrap.ts';

export type SystemOptions = {
  readonly layout: Layout;
  readonly guard: OrphanGuard;
  edgeDiscovery(sds: string): Promise<readonly JsonObject[]>;
  readonly now: () => number;
  /** One line for the operator. */
  say(line: string): void;
};

/** The longest wait for clients of the edge when everything stops, in ms. */
const EDGE_DRAIN_MS = 3_000;

/** What is left after this time of stopping is killed, in ms. */
const STOP_MS = 9_000;

/** All processes of one gateway, started and stopped in the right order. */
export class System {
  readonly fleet: Fleet;
  readonly #layout: Layout;
  readonly #edgeDiscovery: SystemOptions['edgeDiscovery'];
  readonly #now: () => number;
  readonly #start: StartPart;
  #controlplane: SupervisedChild | undefined;
  #sds: SupervisedChild | undefined;
  #rateLimit: SupervisedChild | undefined;
  #extAuthz: SupervisedChild | undefined;
  #identityProvider: SupervisedChild | undefined;
  #edge: SupervisedChild | undefined;
  #stopping = false;
  #writeEdge = () => {};

  constructor({ edgeDiscovery, guard, layout, now, say }: SystemOptions) {
    this.#layout = layout;
    this.#edgeDiscovery = edgeDiscovery;
    this.#now = now;
    this.#start = partStarter({
      guard,
      logs: layout.state.logs,
      now,
      say,
      changed: () => this.#changed(),
    });
    this.fleet = new Fleet({ layout, start: this.#start, now, say });
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** In the order in which they start. */
  get children(): readonly SupervisedChild[] {
    const pairs = this.fleet.instances.flatMap(({ service, proxy }) => [service, proxy]);
    return [...this.#asked, this.#identityProvider, ...pairs, this.#edge].filter(
      child => child !== undefined,
    );
  }

  /**
   * Starts everything, each Envoy once the services that it asks are there. Resolves when all is
   * started or is to stop, which is before it serves.
   */
  async start(instances: number): Promise<void> {
    this.fleet.publish();
    this.#controlplane = this.#start(controlplanePart(this.#layout));
    this.#sds = this.#start(sdsPart(this.#layout));
    this.#rateLimit = this.#start(rateLimitPart(this.#layout));
    this.#extAuthz = this.#start(extAuthzPart(this.#layout));
    if (this.#layout.provider)
      this.#identityProvider = this.#start(identityProviderPart(this.#layout));
    await eventually(async () => this.#stopping || this.#servesProxies(), Number.POSITIVE_INFINITY);
    if (this.#stopping) return;
    this.fleet.begin(instances);
    const edge = edgePart(this.#layout);
    const clusters = await this.#edgeDiscovery(loopback(this.#layout.ports.sds));
    this.#writeEdge = () => writeBootstrap(this.#layout, edge, clusters);
    this.#writeEdge();
    if (this.#stopping) return;
    this.#edge = this.#start(edge);
  }

  /** Writes all files again that the gateway needs in its state folder. */
  restore(): void {
    this.fleet.restore();
    this.#writeEdge();
  }

  /**
   * Ends everything from the edge inwards, so that requests in flight are finished. Takes 10 s at
   * most.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    const late = setTimeout(() => this.kill(), STOP_MS);
    await this.#stopEdge();
    await this.fleet.stop();
    await Promise.all([...this.#asked, this.#identityProvider].map(child => child?.stop()));
    clearTimeout(late);
  }

  /** Ends everything at once. */
  async kill(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.children.map(child => child.kill()));
  }

  async #stopEdge(): Promise<void> {
    this.#edge?.drain();
    const { admin } = edgePart(this.#layout);
    if (this.#edge !== undefined) {
      await drainEnvoy(admin, { closeListeners: true, now: this.#now, ms: EDGE_DRAIN_MS });
    }
    await this.#edge?.stop();
  }

  #servesProxies(): boolean {
    return this.#asked.every(service => service?.isReady === true);
  }

  /** The services that the proxies ask. */
  get #asked(): readonly (SupervisedChild | undefined)[] {
    return [this.#controlplane, this.#sds, this.#rateLimit, this.#extAuthz];
  }

  #changed(): void {
    if (!this.#stopping) this.fleet.publish();
  }
}
