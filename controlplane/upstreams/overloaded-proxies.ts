import type { FigureSource } from '#controlplane/figures/figures.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';

/** A proxy that is overloaded for this time, in ms, is told: in two pushes, each of 5 s. */
const LASTS_MS = 6_000;

const HEAP =
  'its heap is full, so it answers 503 and accepts no connection. Give Mappings a narrower `host` if it has many routes, or raise `max_heap_size_bytes` in its bootstrap';
const CONNECTIONS =
  'clients hold all connections that it may have, so it closes new ones. Start more proxies, or raise `max_active_downstream_connections` in its bootstrap';

/**
 * Returns a Problem for each node group with proxies that turn requests or connections away. There
 * may be thousands, so it names one.
 */
export function overloadedProxyProblems(
  sources: readonly FigureSource[],
  now: number,
): readonly Problem[] {
  return [
    ...problems(sources, HEAP, now, ({ overloadedSince }) => overloadedSince),
    ...problems(sources, CONNECTIONS, now, ({ fullSince }) => fullSince),
  ];
}

function problems(
  sources: readonly FigureSource[],
  why: string,
  now: number,
  sinceOf: (source: FigureSource) => number | undefined,
): readonly Problem[] {
  const overloaded = sources.flatMap(source => {
    const { group, node } = source;
    const since = sinceOf(source) ?? now;
    return now - since >= LASTS_MS ? [{ group, node, since }] : [];
  });
  return [...Map.groupBy(overloaded, ({ group }) => group)].flatMap(([group, proxies]) => {
    const [first] = proxies.map(({ node }) => node).sort();
    if (first === undefined) return [];
    const others = proxies.length > 1 ? `. The same for ${proxies.length - 1} more` : '';
    const problem = systemProblem('Envoy', first, `node group "${group}": ${why}${others}`);
    const since = Math.min(...proxies.map(each => each.since));
    return [{ ...problem, since: new Date(since).toISOString() }];
  });
}
