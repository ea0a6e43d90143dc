import { isDeepStrictEqual } from 'node:util';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { isProxy } from '#controlplane/compile/node-groups.ts';
import { isSetBack } from '#controlplane/figures/figure-store.ts';
import type { Figures } from '#controlplane/figures/figures.ts';
import { CLUSTER } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { type AbsentGroups, absentGroupProblems, absentGroups } from './absent-groups.ts';
import type { Known } from './known.ts';
import { type LonelyGroups, lonelyGroupProblems, lonelyGroups } from './lonely-groups.ts';
import { overloadedProxyProblems } from './overloaded-proxies.ts';
import { define, lasting, look } from './troubles.ts';
import { type Upstream, upstreamsOf } from './upstream.ts';
import { lateOf } from './upstream-failure.ts';
import { upstreamProblems } from './upstream-problems.ts';

export type WatchUpstreamsParts = {
  readonly figures: Pick<Figures, 'requests' | 'sources' | 'upstreams'>;
  /** Returns what the discovery service says of names that it does not know, by name. */
  missing(): ReadonlyMap<string, string>;
  /** Returns the resources in force, by id. */
  resources(): ReadonlyMap<string, Resource>;
  /** Returns the node groups that are connected here, also those of our own services. */
  connected(): ReadonlySet<string>;
  /** Whether other control planes serve the same resources. */
  readonly replicated: boolean;
  /** Called when the Problems have changed. */
  changed(): void;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

export type UpstreamWatch = {
  /** Takes what a node group was compiled to. */
  compiled(group: string, compiled: Compiled): void;
  problems(): readonly Problem[];
  close(): void;
};

const LOOK_MS = 2_000;

const EVERY = { limit: Number.POSITIVE_INFINITY };

/** At most this share of the time goes into looks, however many clusters there are. */
const SHARE = 1 / 20;

/** Looks again and again at what is known of the proxies, and of the services behind them. */
export function watchUpstreams(parts: WatchUpstreamsParts): UpstreamWatch {
  const { after, changed, figures, missing, now } = parts;
  const groups = new Map<string, Compiled>();
  /** When the groups were compiled that no look has seen yet. */
  let compiledAt: number | undefined;
  let known: readonly Known[] = [];
  let lonely: LonelyGroups = new Map();
  let absent: AbsentGroups = new Map();
  let problems: readonly Problem[] = [];
  let lookedAt = 0;
  const lookAtAll = () => {
    // Times of the future would stand for what is not so any more.
    if (isSetBack(lookedAt, now())) {
      [known, lonely, absent] = [[], new Map(), new Map()];
      compiledAt = now();
    }
    lookedAt = now();
    if (compiledAt !== undefined) known = define(known, allOf(groups), compiledAt);
    compiledAt = undefined;
    const upstreams = figures.upstreams();
    const seen = new Map(upstreams.map(each => [`${each.group} ${each.cluster}`, each]));
    const sampled = Map.groupBy(
      upstreams.some(each => lateOf(each.last15Minutes) > 0) ? figures.requests(EVERY) : [],
      ({ cluster, group }) => `${group} ${cluster}`,
    );
    const names = missing();
    const resources = parts.resources();
    const evidenceOf = ({ cluster, discovered = '', group, statName }: Upstream) => ({
      figures: seen.get(`${group} ${statName}`),
      requests: sampled.get(`${group} ${cluster}`) ?? [],
      isInForce: (route: string) => resources.has(route),
      missing: names.get(discovered) ?? names.get(discovered.replace(/:\d+$/, '')),
    });
    known = known.map(each => look(each, evidenceOf(each.upstream), now()));
    const connected = parts.connected();
    const facts = {
      resources: [...resources.values()],
      connected: new Set([...connected].filter(isProxy)),
      replicated: parts.replicated,
    };
    lonely = lonelyGroups(lonely, facts, now());
    // Others may have what has left this control plane.
    if (!parts.replicated) absent = absentGroups(absent, connected, now());
    const found = [
      ...upstreamProblems(lasting(known, now()), resources),
      ...lonelyGroupProblems(lonely, facts, now()),
      ...absentGroupProblems(absent, now()),
      ...overloadedProxyProblems(figures.sources(), now()),
    ];
    if (isDeepStrictEqual(found, problems)) return;
    problems = found;
    changed();
  };
  let cancel = () => {};
  const wait = (ms: number) => {
    cancel = after(ms, () => {
      const begun = performance.now();
      lookAtAll();
      wait(Math.max(LOOK_MS, (performance.now() - begun) / SHARE));
    });
  };
  wait(LOOK_MS);
  return {
    compiled(group, compiled) {
      // Our own services get no clusters, but secrets.
      if (!compiled.resources.has(CLUSTER)) return;
      groups.set(group, compiled);
      compiledAt ??= now();
    },
    problems: () => problems,
    close: () => cancel(),
  };
}

function allOf(groups: ReadonlyMap<string, Compiled>): readonly Upstream[] {
  return [...groups].flatMap(([group, compiled]) => upstreamsOf(group, compiled));
}
