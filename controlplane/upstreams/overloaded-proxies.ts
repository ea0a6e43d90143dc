import type { FigureSource } from '#controlplane/figures/figures.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';

/** A proxy that is overloaded for this time, in ms, is told: in two pushes, each of 5 s. */
const LASTS_MS = 6_000;

const ANSWERS =
  'its heap is full, so it answers 503 and accepts no connection. Give Mappings a narrower `host` if it has many routes, or raise `max_heap_size_bytes` in its bootstrap';

/**
 * Returns a Problem for each node group with proxies that turn requests away. There may be
 * thousands, so it names one.
 */
export function overloadedProxyProblems(
  sources: readonly FigureSource[],
  now: number,
): readonly Problem[] {
  const overloaded = sources.flatMap(({ group, node, overloadedSince: since = now }) =>
    now - since >= LASTS_MS ? [{ group, node, since }] : [],
  );
  return [...Map.groupBy(overloaded, ({ group }) => group)].flatMap(([group, proxies]) => {
    const [first] = proxies.map(({ node }) => node).sort();
    if (first === undefined) return [];
    const others = proxies.length > 1 ? `. The same for ${proxies.length - 1} more` : '';
    const problem = systemProblem('Envoy', first, `node group "${group}": ${ANSWERS}${others}`);
    const since = Math.min(...proxies.map(each => each.since));
    return [{ ...problem, since: new Date(since).toISOString() }];
  });
}
