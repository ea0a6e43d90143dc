import type { Memo } from '#controlplane/compile/memo.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/** Routes come by the thousand, and each is remembered by itself. */
const LEFT_OUT: readonly string[] = [
  ...['grpcRoutes', 'httpRoutes', 'tcpRoutes', 'tlsRoutes', 'udpRoutes'],
  // It comes from the Modules.
  'config',
];

/**
 * Returns an object that stands for all resources but the routes of Gateway API. It is the very
 * same one as long as all of them are the same.
 */
export function restOf(resources: ResourceSet, memo: Memo): object {
  return memo.of(resources, 'rest of this set', [], () => {
    const lists = Object.entries(resources).filter(([name]) => !LEFT_OUT.includes(name));
    const all = lists.flatMap(([, list]): unknown => list);
    return memo.of(memo, 'rest of resources', all, () => ({}));
  });
}
