import { systemProblem } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';

/**
 * Returns the Problem of the proxies that have not answered for so long that the others went on
 * without them. There may be thousands, so it names one.
 */
export function lateProxyProblems(
  streams: readonly Pick<StreamStatus, 'id' | 'node' | 'standing'>[],
  isLate: (id: string) => boolean,
): readonly Problem[] {
  const late = streams.filter(({ id, standing }) => standing === 'waiting' && isLate(String(id)));
  const nodes = [...new Set(late.map(({ node }) => node))].sort();
  const [first] = nodes;
  if (first === undefined) return [];
  const others = nodes.length > 1 ? ` (and ${nodes.length - 1} more)` : '';
  return [{ ...systemProblem('Envoy', first, `${LATE}${others}`), severity: 'warning' }];
}

const LATE =
  'has not answered the newest configuration, and the others went on without it: see whether it is overloaded, or its connection is slow';
