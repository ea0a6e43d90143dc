import { uncoveredPart } from '#resources/parse/uncovered-part.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, ResourcesById } from '#resources/resource.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';
import { type Snapshot, snapshotVersion } from '#xds/snapshot.ts';
import { type Candidates, candidates, type Written } from './candidates.ts';
import { Patience } from './patience.ts';
import { closedResource, lostRuleProblem, quarantineProblem, unmadeProblem } from './problems.ts';
import {
  accept,
  effective,
  opened,
  proven,
  type Rollout,
  refuse,
  startRollout,
  triable,
  tryAgain,
  want,
} from './rollout.ts';
import { type ClientAck, rolloutVerdict } from './rollout-verdict.ts';
import { mayPass } from './taken-ports.ts';
import { type Untaken, withoutUntaken } from './untaken-rules.ts';

/** The configuration of one node group. */
export type GroupConfiguration = {
  readonly snapshot: Snapshot;
  readonly problems: readonly Problem[];
};

export type ControllerParts = {
  /** Returns the node groups, services' too, that have configuration under these resources. */
  groups(resources: ResourceSet): readonly string[];
  /**
   * The groups of our own services, which decide about requests. A tighter rule is in force there
   * before proxies apply the change.
   */
  readonly services: ReadonlySet<string>;
  /**
   * The service that decides by FilterPolicies. While it does not have one, what that covers is
   * closed. Default: none.
   */
  readonly authorizer?: string;
  /** Whether other control planes are known to serve the same resources. Default: false. */
  readonly replicated?: boolean;
  /**
   * Compiles a group. An `error` means that no configuration can be made. It counts as a rejection
   * by the proxies.
   */
  compile(resources: ResourceSet, group: string): GroupConfiguration | { readonly error: string };
  /**
   * Serves the configuration to every proxy of the group. Until `changedOver`, a service also keeps
   * what proxies may still use.
   */
  publish(group: string, snapshot: Snapshot): void;
  /** Serves once more what was last published to a group, to the proxies that rejected it. */
  again(group: string): void;
  /** Called when the proxies use what was last published. Services may drop what was before. */
  changedOver(): void;
  /**
   * Returns the connected proxies, and the state of each towards what was last published to its
   * group.
   */
  proxies(): Iterable<ClientAck>;
  /** Stores what was accepted for the next start. */
  keep(accepted: ResourcesById): void;
  /** Calls back after `ms`, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void;
};

/** After this time, in ms, a proxy that has not answered a change no longer holds the others. */
const OVERDUE_MS = 5_000;

/** Proxies wait for our services for at most this time, in ms. */
const SERVICES_MS = 2_000;

/**
 * Each connected client adds this much to both waits, in ms, because all of them share one sender.
 * `bench/results/fleet.md` has what one takes.
 */
const MS_PER_CLIENT = 5;

/** No wait for clients is longer than this, in ms. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Within this time, in ms, another control plane's service has the change in force, since both
 * control planes read it at about the same moment. Processes of one service come back within it,
 * too.
 */
const ELSEWHERE_MS = 500;

/**
 * After these times, in ms, proxies try again what they may take now. The wait doubles until the
 * next edit.
 */
const AGAIN_MS = { first: 5_000, most: 60_000 };

/** The key of the wait for services that may be connected to another control plane. */
const ELSEWHERE = 'elsewhere';

type Compiled = GroupConfiguration & { readonly group: string };

/** Who is connected, looked at once. */
type Clients = {
  readonly proxies: readonly ClientAck[];
  readonly services: readonly ClientAck[];
};

/**
 * Brings what the operator wrote into force. It publishes each group's configuration and takes the
 * proxies' answers. After a rejection it finds the guilty resource (rollout.ts) while the rest goes
 * on.
 */
export class Controller {
  readonly #parts: ControllerParts;
  readonly #published = new Map<string, { version: string; problems: readonly Problem[] }>();
  /** Why no configuration can be made for a group, by group. It keeps what it has. */
  #failed: ReadonlyMap<string, string> = new Map();
  /** Groups whose configuration changed since the last acceptance. */
  readonly #unproven = new Set<string>();
  #rollout: Rollout;
  #candidates: Candidates | undefined;
  /** Configuration of proxies that is held back until the services have theirs. */
  #held: readonly Compiled[] = [];
  /**
   * Proxies answer synchronously when nothing changes for them. The verdict waits until all have
   * been served.
   */
  #publishing = false;
  /** Whether proxies may still use the earlier configuration. */
  #changing = false;
  /** The waits before proxies get a change: for services, and for ELSEWHERE. */
  readonly #services: Patience;
  /** The waits before acceptance: for proxies, and for groups without any proxy. */
  readonly #proxies: Patience;
  /** The number of clients when they were last looked at. */
  #connected = 0;
  /** The streams of services when they were last looked at. */
  #here: ReadonlySet<string> = new Set();
  /** Groups that have configuration, services' too. */
  #configured: readonly string[] = [];
  /** Groups that have had a proxy. */
  readonly #seen = new Set<string>();
  /** Whether this process has accepted anything. */
  #proven = false;
  /** Keys of services that were here, and of which no process has settled since. */
  readonly #silent = new Set<string>();
  /** Groups of services that have something to decide by. */
  #deciding: readonly string[] = [];
  /** What the authorizer was last seen to have. Undefined before that. */
  #taken: ResourcesById | undefined;
  /** What proxies go by in place of rules that the authorizer does not have. */
  #untaken: Untaken | undefined;
  /** Whether services that are not connected here are given time to have a change. */
  #elsewhere = false;
  #cancelElsewhere: () => void = () => {};
  /** Whether something is to be tried again, and how often that was since the last edit. */
  #waitsToTry = false;
  #attempts = 0;

  constructor(lastGood: ResourcesById, parts: ControllerParts) {
    this.#parts = parts;
    const changed = () => this.proxiesChanged();
    const grown = (ms: number) => Math.min(ms + this.#connected * MS_PER_CLIENT, LONGEST_WAIT_MS);
    this.#services = new Patience(() => grown(SERVICES_MS), parts.after, changed);
    this.#proxies = new Patience(() => grown(OVERDUE_MS), parts.after, changed);
    this.#rollout = startRollout(lastGood);
  }

  /** Takes what the operator wrote, at each change. */
  written(written: Written): void {
    this.#attempts = 0;
    const found = candidates(written, effective(this.#rollout));
    this.#candidates = found;
    if (this.#unread() !== undefined) return;
    this.#rollout = want(this.#rollout, found.resources);
    this.#publish();
  }

  /** Called when a proxy or a service came, went, or has answered what was published to it. */
  proxiesChanged(): void {
    if (this.#publishing) return;
    const clients = this.#clients();
    this.#noteClients(clients);
    if (this.#held.length > 0) {
      this.#servicesChanged(clients);
      return;
    }
    if (this.#untaken !== undefined && this.#findUntaken() === undefined) {
      this.#publish();
      return;
    }
    const { trial } = this.#rollout;
    if (trial !== undefined) this.#judge(clients);
    if (!this.#changing || this.#held.length > 0) return;
    // A verdict may have published something else.
    const { proxies } = this.#rollout.trial === trial ? clients : this.#clients();
    if (proxies.every(({ id, state }) => state === 'settled' || this.#proxies.isLate(oldKey(id)))) {
      this.#changing = false;
      this.#parts.changedOver();
    }
  }

  /** Whether the stream with this id has not answered for so long that the others went on. */
  isLate(id: string): boolean {
    return this.#proxies.isLate(id) || this.#services.isLate(id);
  }

  #clients(): Clients {
    const { proxies, services } = this.#parts;
    const all = [...proxies()];
    this.#connected = all.length;
    return {
      proxies: all.filter(({ group }) => !services.has(group)),
      services: all.filter(({ group }) => services.has(group)),
    };
  }

  /** A group is waited for once it has had a proxy. */
  #noteClients({ proxies, services }: Clients): void {
    for (const { group } of proxies) this.#seen.add(group);
    const settled = new Set(
      proxies.filter(({ state }) => state === 'settled').map(({ group }) => group),
    );
    const groups =
      proxies.length === 0 ? [] : [...this.#awaited()].filter(group => !settled.has(group));
    this.#proxies.waitFor([
      ...waiting(proxies),
      ...proxies.filter(({ state }) => state !== 'settled').map(({ id }) => oldKey(id)),
      ...groups.map(groupKey),
    ]);
    if (this.#hasTaken(services)) this.#taken = effective(this.#rollout);
    const come = services.some(({ id }) => !this.#here.has(id));
    this.#here = new Set(services.map(({ id }) => id));
    // Another process of the service may be on its way back, too.
    if (come && this.#held.length > 0) this.#waitElsewhere();
    this.#services.waitFor([
      ...waiting(services),
      ...this.#silentGroups(services).map(silentKey),
      ...this.#away(services),
    ]);
    this.#waitToTryAgain(proxies);
  }

  /** A port that another program has may become free, and an address may come. */
  #waitToTryAgain(proxies: readonly ClientAck[]): void {
    const isWorthIt = triable(this.#rollout).length > 0 || proxies.some(mayTake);
    if (this.#waitsToTry || !isWorthIt) return;
    this.#waitsToTry = true;
    const ms = Math.min(AGAIN_MS.first * 2 ** this.#attempts, AGAIN_MS.most);
    this.#attempts += 1;
    this.#parts.after(ms, () => {
      this.#waitsToTry = false;
      this.#tryAgain();
    });
  }

  #tryAgain(): void {
    const next = tryAgain(this.#rollout);
    if (next !== this.#rollout) {
      this.#rollout = next;
      this.#publish();
    }
    const { proxies } = this.#clients();
    for (const group of new Set(proxies.filter(mayTake).map(each => each.group)))
      this.#parts.again(group);
  }

  /** Returns whether the authorizer has what is published to it. */
  #hasTaken(services: readonly ClientAck[]): boolean {
    const { authorizer } = this.#parts;
    const own = services.filter(({ group }) => group === authorizer);
    return own.length > 0 && own.every(({ state }) => state === 'settled');
  }

  /**
   * Returns what to serve while the authorizer lacks rules.
   * @returns undefined when it has them, or was never seen to have any
   */
  #findUntaken(): Untaken | undefined {
    if (this.#taken === undefined) return undefined;
    return withoutUntaken(effective(this.#rollout), this.#taken);
  }

  /**
   * Returns what to wait for of services that are not connected here. Right after the start they
   * all come back one by one, and decide by what they had until then.
   */
  #away(services: readonly ClientAck[]): readonly string[] {
    const here = new Set(services.map(({ group }) => group));
    const groups = this.#deciding.filter(group => !here.has(group)).map(groupKey);
    return this.#elsewhere ? [...groups, ELSEWHERE] : groups;
  }

  /**
   * Returns the keys of services that were here, and of which no process has settled since. A
   * service whose connection breaks again and again has another stream each time.
   */
  #silentGroups(services: readonly ClientAck[]): readonly string[] {
    for (const { group } of services) this.#silent.add(groupKey(group));
    for (const { group, state } of services)
      if (state === 'settled') this.#silent.delete(groupKey(group));
    return [...this.#silent];
  }

  /**
   * Returns the groups that cannot settle while none of their proxies is here. These are the groups
   * that had one and still have configuration. Right after the start they are all groups, since
   * proxies come back one by one. With replicas, another control plane may have their proxies.
   */
  #awaited(): readonly string[] {
    const { replicated = false, services } = this.#parts;
    if (replicated) return [];
    return this.#configured.filter(
      group =>
        !services.has(group) &&
        this.#unproven.has(group) &&
        (!this.#proven || this.#seen.has(group)),
    );
  }

  #judge({ proxies, services }: Clients): void {
    const late = (key: string) => this.#proxies.isLate(key);
    const awaited = this.#awaited().filter(group => !late(groupKey(group)));
    const verdict = (clients: readonly ClientAck[]) =>
      rolloutVerdict(clients, this.#unproven, ({ id }) => late(id), new Set(awaited));
    const said = verdict([...proxies, ...services]);
    if (typeof said === 'object') this.#refuse(said.rejected);
    // Services alone do not prove what is meant for proxies.
    else if (said === 'accepted' && verdict(proxies) === said && this.#untaken === undefined)
      this.#accept();
  }

  #accept(): void {
    this.#rollout = accept(this.#rollout);
    this.#unproven.clear();
    this.#proven = true;
    this.#parts.keep(proven(this.#rollout));
    if (this.#rollout.trial !== undefined) this.#publish();
  }

  /** Returns false when there is nothing else to try. */
  #refuse(message: string): boolean {
    const next = refuse(this.#rollout, message);
    if (next === this.#rollout) return false;
    this.#rollout = next;
    this.#publish();
    return true;
  }

  /**
   * Returns why no configuration is served.
   * @returns undefined when configuration is served
   */
  readiness(): string | undefined {
    const isServed = [...this.#published.keys()].some(group => !this.#parts.services.has(group));
    const [failed] = isServed ? [] : this.#failures();
    return this.#unread() ?? failed?.message;
  }

  #failures(): readonly Problem[] {
    return [...this.#failed].map(([group, error]) =>
      unmadeProblem(group, error, this.#parts.services.has(group)),
    );
  }

  /** Returns why nothing of what is written is brought into force. */
  #unread(): string | undefined {
    if (this.#candidates === undefined) return 'the resources are not read yet';
    const [file] = this.#candidates.unknown;
    if (file === undefined || this.#published.size > 0) return undefined;
    return `${file} cannot be read, and no last good version of it is known`;
  }

  /** Returns the node groups that are served, or are to be. */
  get groups(): ReadonlySet<string> {
    return new Set([...this.#published.keys(), ...this.#configured]);
  }

  get rollout(): Rollout {
    return this.#rollout;
  }

  /** Returns the ids whose older version is in force because the written one has an error. */
  get kept(): ReadonlySet<string> {
    return this.#candidates?.kept ?? new Set();
  }

  /** Returns what is in force, or about to be, with what is closed. */
  get inForce(): ResourceSet {
    return this.#servedWith(this.#untaken);
  }

  #servedWith(untaken: Untaken | undefined): ResourceSet {
    const { resources, closed } = untaken ?? { resources: effective(this.#rollout), closed: [] };
    return toResourceSet(resources.values(), [...this.#closed(), ...closed]);
  }

  /** Returns resources with an error that no last good version stands for whole. */
  get closed(): readonly Rejected[] {
    return this.#candidates?.closed ?? [];
  }

  /** Returns the Problems beyond those of the parser. */
  problems(): readonly Problem[] {
    const { accepted, quarantined, trial, wanted } = this.#rollout;
    const good = quarantined.size > 0 ? proven(this.#rollout) : accepted;
    const byProxies = [...quarantined].flatMap(([id, rejected]) => {
      const resource = wanted.get(id) ?? accepted.get(id);
      return resource === undefined ? [] : [quarantineProblem(resource, rejected, good.has(id))];
    });
    const byRules = trial === undefined ? opened(this.#rollout) : [];
    const byKeeping = this.#candidates?.problems ?? [];
    const byCompiler = [...this.#published.values()].flatMap(({ problems }) => problems);
    return [
      ...this.#failures(),
      ...byKeeping,
      ...byProxies,
      ...byRules.map(({ resource, rule }) =>
        lostRuleProblem(wanted.get(resource.id) ?? resource, rule),
      ),
      ...byCompiler,
    ];
  }

  #publish(): void {
    const resources = this.#servedWith(undefined);
    this.#configured = this.#parts.groups(resources);
    const compiled = [...this.groups].map(group => ({
      group,
      ...this.#parts.compile(resources, group),
    }));
    const failure = compiled.find(result => 'error' in result);
    if (failure !== undefined && this.#refuse(failure.error)) return;
    this.#failed = new Map(
      compiled.flatMap(each => ('error' in each ? [[each.group, each.error] as const] : [])),
    );
    const made = compiled.filter(result => 'snapshot' in result);
    const { services } = this.#parts;
    const ours = made.filter(({ group }) => services.has(group));
    this.#deciding = ours.filter(hasResources).map(({ group }) => group);
    const changed = this.#publishGroups(ours);
    const clients = this.#clients();
    this.#endElsewhere();
    const away = this.#away(clients.services);
    if (changed.some(group => away.includes(groupKey(group)))) this.#waitElsewhere();
    this.#noteClients(clients);
    this.#held = made.filter(({ group }) => !services.has(group));
    this.#servicesChanged(clients);
  }

  /** A service may reject what proxies would accept. A late one holds them for a bounded time. */
  #servicesChanged({ services }: Clients): void {
    const refusing = services.find(({ state }) => state === 'rejected');
    if (refusing !== undefined && this.#refuse(refusing.refusal ?? 'it gave no reason')) return;
    const isLate = (key: string, group: string) =>
      this.#services.isLate(key) || this.#services.isLate(silentKey(group));
    const isHeld =
      services.some(
        ({ group, id, state }) => state === 'waiting' && !isLate(id, groupKey(group)),
      ) || this.#away(services).some(key => !isLate(key, key));
    if (!isHeld) this.#release();
  }

  #waitElsewhere(): void {
    this.#cancelElsewhere();
    this.#elsewhere = true;
    this.#cancelElsewhere = this.#parts.after(ELSEWHERE_MS, () => {
      this.#elsewhere = false;
      this.proxiesChanged();
    });
  }

  #endElsewhere(): void {
    this.#elsewhere = false;
    this.#cancelElsewhere();
  }

  #release(): void {
    this.#untaken = this.#findUntaken();
    const held = this.#untaken === undefined ? this.#held : this.#compileAgain(this.#held);
    this.#held = [];
    this.#endElsewhere();
    this.#publishGroups(held);
    this.#changing = true;
    this.proxiesChanged();
  }

  /** Groups whose configuration cannot be made keep what they have. */
  #compileAgain(groups: readonly Compiled[]): readonly Compiled[] {
    const resources = this.inForce;
    return groups
      .map(({ group }) => ({ group, ...this.#parts.compile(resources, group) }))
      .filter(result => 'snapshot' in result);
  }

  /** Returns the groups whose configuration has changed. */
  #publishGroups(groups: readonly Compiled[]): readonly string[] {
    this.#publishing = true;
    const changed = groups.filter(group => this.#publishGroup(group));
    this.#publishing = false;
    return changed.map(({ group }) => group);
  }

  #publishGroup({ group, snapshot, problems }: Compiled): boolean {
    const version = snapshotVersion(snapshot);
    const changed = this.#published.get(group)?.version !== version;
    this.#published.set(group, { version, problems });
    if (!changed) return false;
    this.#unproven.add(group);
    this.#parts.publish(group, snapshot);
    return true;
  }

  #closed(): Rejected[] {
    const { quarantined, wanted } = this.#rollout;
    const served = effective(this.#rollout);
    const rejected = [...quarantined.keys()].flatMap(id => {
      const [resource, good] = [wanted.get(id), served.get(id)];
      if (resource === undefined) return [];
      return (good === undefined ? closedResource(resource) : uncoveredPart(resource, good)) ?? [];
    });
    const withoutRule = opened(this.#rollout)
      .filter(({ resource: { id } }) => !(quarantined.has(id) && wanted.has(id)))
      .map(({ resource }) => closedResource(resource));
    return [...(this.#candidates?.closed ?? []), ...rejected, ...withoutRule];
  }
}

/** Whether a proxy may take now what it rejected. */
function mayTake({ refusal, state }: ClientAck): boolean {
  return state === 'rejected' && refusal !== undefined && mayPass(refusal);
}

function hasResources({ snapshot }: Compiled): boolean {
  return [...snapshot.values()].some(({ size }) => size > 0);
}

/** One that has rejected has answered, however long ago that was. */
function waiting(clients: readonly ClientAck[]): readonly string[] {
  return clients.filter(({ state }) => state === 'waiting').map(({ id }) => id);
}

/** Returns the key of the wait for a proxy that may still go by what was before. */
function oldKey(id: string): string {
  return `old ${id}`;
}

/** Returns a key that differs from every stream id. */
function groupKey(group: string): string {
  return `group ${group}`;
}

/** Returns the key of a wait that outlasts the streams of a group. */
function silentKey(key: string): string {
  return `silent ${key}`;
}
