import { SERVICE_GROUPS } from '#controlplane/compile/node-groups.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';
import { cut } from './conditions.ts';

/** Clients may name any number of groups. This many are reported. */
const MOST_TOLD = 20;
const MOST_NAMED = 10;
const MOST_CHARACTERS = 100;

/** Returns the Problems of proxies whose node group has no configuration. They are sent nothing. */
export function unknownGroupProblems(
  streams: readonly Pick<StreamStatus, 'node' | 'group'>[],
  known: ReadonlySet<string>,
): readonly Problem[] {
  const unknown = Map.groupBy(
    streams.filter(({ group }) => !known.has(group)),
    ({ group }) => group,
  );
  return [...unknown].slice(0, MOST_TOLD).map(([group, proxies]) => {
    const nodes = [...new Set(proxies.map(({ node }) => node))].sort();
    const others = nodes.length > 1 ? ` (and ${nodes.length - 1} more)` : '';
    return {
      ...systemProblem(
        'Envoy',
        cut(nodes[0] ?? '', MOST_CHARACTERS),
        `${describe(cut(group, MOST_CHARACTERS), known)}${others}`,
      ),
      severity: 'warning',
    };
  });
}

function describe(group: string, known: ReadonlySet<string>): string {
  const own = JSON.stringify(group);
  const names = [...known].filter(name => !SERVICE_GROUPS.includes(name)).sort();
  const more = names.length > MOST_NAMED ? ' …' : '';
  const named = names.slice(0, MOST_NAMED).join(', ');
  const remedy = `set node.cluster in its bootstrap to one that has some (${named}${more}), or write a Mapping or ProxyConfig with node_group ${own}`;
  return `its node group ${own} has no configuration, so it is sent nothing: ${remedy}`;
}
