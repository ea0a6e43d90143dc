import type { Problem } from '#resources/problem.ts';
import type { Refused, Resource } from '#resources/resource.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';
import { type Snapshot, snapshotVersion } from '#xds/snapshot.ts';
import { type Candidates, candidates, type Written } from './candidates.ts';
import { Patience } from './patience.ts';
import { closedResource, quarantineProblem } from './problems.ts';
import {
  accept,
  effective,
  type Resources,
  type Rollout,
  refuse,
  startRollout,
  want,
} from './rollout.ts';
import { type Standing, verdict } from './verdict.ts';

/** The configuration of one node group. */
export type GroupConfiguration = {
  readonly snapshot: Snapshot;
  readonly problems: readonly Problem[];
};

export type ControllerParts = {
  /** Node groups that have configuration under these resources, services' too. */
  groups(resources: ResourceSet): readonly string[];
  /**
   * The groups of our own services, which decide about requests: what tightens is in force there
   * before proxies act on it.
   */
  readonly services: ReadonlySet<string>;
  /**
   * Other control planes serve the same resources, and services may be connected to those alone.
   * Default: there is none.
   */
  readonly replicated?: boolean;
  /** An `error` is a configuration that cannot be made; it counts as one that proxies refuse. */
  compile(resources: ResourceSet, group: string): GroupConfiguration | { readonly error: string };
  /**
   * Serves the configuration to every proxy of the group; to a service together with what proxies
   * may still go by, until `changedOver`.
   */
  publish(group: string, snapshot: Snapshot): void;
  /** The proxies go by what was last published: services need not know what was before. */
  changedOver(): void;
  /** The connected proxies, and how each stands to what was last published to its group. */
  proxies(): Iterable<Standing>;
  /** Keeps what was accepted for the next start. */
  keep(accepted: Resources): void;
  /** Calls back after `ms`, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void;
};

/** A proxy that has not answered a change for this long, in ms, does not hold the others. */
const OVERDUE_MS = 5_000;

/** Proxies wait for our services for this long at most, in ms. */
const SERVICES_MS = 2_000;

/**
 * What a service gets from another control plane is in force there in this time, in ms: both have
 * heard of the change at about the same moment.
 */
const ELSEWHERE_MS = 500;

/** What a service that is connected to another control plane is waited for under. */
const ELSEWHERE = 'elsewhere';

type Compiled = GroupConfiguration & { readonly group: string };

/**
 * Brings what the operator wrote into force: publishes each group's configuration, hears what the
 * proxies say of it, and on a refusal finds the guilty resource (rollout.ts) while the rest goes
 * on.
 */
export class Controller {
  readonly #parts: ControllerParts;
  readonly #published = new Map<string, { version: string; problems: readonly Problem[] }>();
  /** Groups whose configuration changed since the last acceptance. */
  readonly #unproven = new Set<string>();
  #rollout: Rollout;
  #candidates: Candidates | undefined;
  /** Configuration of proxies that is held back until the services have theirs. */
  #held: readonly Compiled[] = [];
  /**
   * Proxies answer synchronously what changes nothing for them; no verdict is due before all have
   * been served.
   */
  #publishing = false;
  /** Proxies may still go by what was before. */
  #changing = false;
  /** What a change waits for before proxies get it: services, and ELSEWHERE. */
  readonly #services: Patience;
  /** What acceptance waits for: proxies, and groups of which none is there. */
  readonly #proxies: Patience;
  /** Groups that have configuration, services' too. */
  #configured: readonly string[] = [];
  /** Groups of which a proxy has been here. */
  readonly #seen = new Set<string>();
  /** Something was accepted since this process began. */
  #proven = false;
  /** A service that has another configuration now is not connected here. */
  #elsewhere = false;
  #cancelElsewhere: () => void = () => {};

  constructor(lastGood: Resources, parts: ControllerParts) {
    this.#parts = parts;
    const changed = () => this.proxiesChanged();
    this.#services = new Patience(SERVICES_MS, parts.after, changed);
    this.#proxies = new Patience(OVERDUE_MS, parts.after, changed);
    this.#rollout = startRollout(lastGood);
  }

  /** What the operator wrote, whenever it changes. */
  written(written: Written): void {
    const found = candidates(written, effective(this.#rollout));
    this.#candidates = found;
    if (this.readiness() !== undefined) return;
    this.#rollout = want(this.#rollout, found.resources);
    this.#publish();
  }

  /** A proxy or a service came, went, or has answered what was published to it. */
  proxiesChanged(): void {
    if (this.#publishing) return;
    this.#noteClients();
    if (this.#held.length > 0) {
      this.#servicesChanged();
      return;
    }
    if (this.#rollout.trial !== undefined) this.#judge();
    if (this.#changing && this.#held.length === 0 && this.#haveChangedOver()) {
      this.#changing = false;
      this.#parts.changedOver();
    }
  }

  #haveChangedOver(): boolean {
    return this.#clients('proxy').every(
      ({ id, state }) => state === 'settled' || this.#proxies.isLate(id),
    );
  }

  /** The connected proxies, or the connected services. */
  #clients(kind: 'proxy' | 'service'): readonly Standing[] {
    const { proxies, services } = this.#parts;
    return [...proxies()].filter(({ group }) => services.has(group) === (kind === 'service'));
  }

  /** A group is waited for from when some proxy is there. */
  #noteClients(): void {
    const proxies = this.#clients('proxy');
    for (const { group } of proxies) this.#seen.add(group);
    const settled = new Set(
      proxies.filter(({ state }) => state === 'settled').map(({ group }) => group),
    );
    const groups =
      proxies.length === 0 ? [] : [...this.#awaited()].filter(group => !settled.has(group));
    this.#proxies.waitFor([...unsettled(proxies), ...groups.map(groupKey)]);
    const elsewhere = this.#elsewhere ? [ELSEWHERE] : [];
    this.#services.waitFor([...unsettled(this.#clients('service')), ...elsewhere]);
  }

  /**
   * Groups that cannot take a change while no proxy of theirs is here: those that had one and still
   * have configuration, and of a process that has just begun every one, since proxies come back one
   * by one. Elsewhere is another control plane that hears them.
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

  #judge(): void {
    const late = (key: string) => this.#proxies.isLate(key);
    const awaited = this.#awaited().filter(group => !late(groupKey(group)));
    const said = verdict(
      this.#parts.proxies(),
      this.#unproven,
      ({ id }) => late(id),
      new Set(awaited),
    );
    if (typeof said === 'object') this.#refuse(said.refused);
    else if (said === 'accepted' && this.#hasProxies()) this.#accept();
  }

  /** Services alone do not prove what proxies are to take. */
  #hasProxies(): boolean {
    return this.#clients('proxy').length > 0;
  }

  #accept(): void {
    this.#rollout = accept(this.#rollout);
    this.#unproven.clear();
    this.#proven = true;
    this.#parts.keep(this.#rollout.accepted);
    if (this.#rollout.trial !== undefined) this.#publish();
  }

  /** False: there is nothing else to try. */
  #refuse(message: string): boolean {
    const next = refuse(this.#rollout, message);
    if (next === this.#rollout) return false;
    this.#rollout = next;
    this.#publish();
    return true;
  }

  /** Undefined when configuration is served, else why it is not. */
  readiness(): string | undefined {
    if (this.#candidates === undefined) return 'the resources are not read yet';
    const [file] = this.#candidates.unknown;
    if (file === undefined || this.#published.size > 0) return undefined;
    return `${file} cannot be read, and no last good version of it is known`;
  }

  /** The node groups that are served, or are to be. */
  get groups(): ReadonlySet<string> {
    return new Set([...this.#published.keys(), ...this.#configured]);
  }

  get rollout(): Rollout {
    return this.#rollout;
  }

  /** Ids whose older version is in force because the written one has an error. */
  get kept(): ReadonlySet<string> {
    return this.#candidates?.kept ?? new Set();
  }

  /** What the proxies go by now, or are to go by, with what is closed. */
  get inForce(): ResourceSet {
    return toResourceSet(effective(this.#rollout).values(), this.#closed());
  }

  /** Resources with an error and without a last good version: what they cover is closed. */
  get closed(): readonly Refused[] {
    return this.#candidates?.closed ?? [];
  }

  /** What is wrong beyond what the parser said. */
  problems(): readonly Problem[] {
    const { accepted, wanted, quarantined } = this.#rollout;
    const byProxies = [...quarantined].flatMap(([id, refused]) => {
      const resource = wanted.get(id) ?? accepted.get(id);
      return resource === undefined ? [] : [quarantineProblem(resource, refused, accepted.has(id))];
    });
    const byCompiler = [...this.#published.values()].flatMap(({ problems }) => problems);
    return [...byProxies, ...byCompiler];
  }

  #publish(): void {
    const resources = this.inForce;
    this.#configured = this.#parts.groups(resources);
    const compiled = [...this.groups].map(group => ({
      group,
      ...this.#parts.compile(resources, group),
    }));
    const failure = compiled.find(result => 'error' in result);
    if (failure !== undefined && this.#refuse(failure.error)) return;
    const made = compiled.filter(result => 'snapshot' in result);
    const { services } = this.#parts;
    const changed = this.#publishGroups(made.filter(({ group }) => services.has(group)));
    this.#waitElsewhere(changed);
    this.#held = made.filter(({ group }) => !services.has(group));
    this.#noteClients();
    this.#servicesChanged();
  }

  /** A service may refuse what proxies would take; one that is late holds them for a while only. */
  #servicesChanged(): void {
    const services = this.#clients('service');
    const refusing = services.find(({ state }) => state === 'refused');
    if (refusing !== undefined && this.#refuse(refusing.refusal ?? 'it gave no reason')) return;
    const waiting = services.filter(({ state }) => state === 'waiting').map(({ id }) => id);
    const holding = this.#elsewhere ? [...waiting, ELSEWHERE] : waiting;
    if (holding.every(key => this.#services.isLate(key))) this.#release();
  }

  #waitElsewhere(changed: readonly string[]): void {
    const { after, proxies, replicated = false } = this.#parts;
    const here = new Set([...proxies()].map(({ group }) => group));
    this.#cancelElsewhere();
    this.#elsewhere = replicated && changed.some(group => !here.has(group));
    if (!this.#elsewhere) return;
    this.#cancelElsewhere = after(ELSEWHERE_MS, () => {
      this.#elsewhere = false;
      this.proxiesChanged();
    });
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    this.#elsewhere = false;
    this.#cancelElsewhere();
    this.#publishGroups(held);
    this.#changing = true;
    this.proxiesChanged();
  }

  /** Returns the groups whose configuration is another now. */
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

  #closed(): Refused[] {
    const { accepted, wanted, quarantined } = this.#rollout;
    const refused = [...quarantined.keys()]
      .filter(id => !accepted.has(id))
      .map(id => wanted.get(id))
      .filter((resource): resource is Resource => resource !== undefined);
    return [...(this.#candidates?.closed ?? []), ...refused.map(closedResource)];
  }
}

function unsettled(clients: readonly Standing[]): readonly string[] {
  return clients.filter(({ state }) => state !== 'settled').map(({ id }) => id);
}

/** No stream has such an id. */
function groupKey(group: string): string {
  return `group ${group}`;
}
