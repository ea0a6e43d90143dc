import type { TestContext } from 'node:test';
import { after } from '#process/after.ts';
import type { Cluster } from '../cluster.ts';
import { follow } from '../follow.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import type { Resource } from '../resource.ts';

export type Followed = {
  /** The objects as they were reported last. Undefined when nothing was reported. */
  objects(): ReadonlyMap<string, KubernetesObject> | undefined;
  /** The keys of each call, sorted. */
  readonly changes: string[];
  readonly troubles: string[];
  lists(): number;
  watches(): number;
  close(): void;
};

/** Follows a resource until the test ends, and keeps what it is told. */
export function followed(
  t: TestContext,
  cluster: Cluster,
  resource: Resource,
  timers = after,
): Followed {
  let objects: ReadonlyMap<string, KubernetesObject> | undefined;
  let [lists, watches] = [0, 0];
  const changes: string[] = [];
  const troubles: string[] = [];
  const { close } = follow({
    cluster,
    resource,
    read: object => object,
    onChange(all, changed) {
      objects = all;
      changes.push([...changed].sort().join());
    },
    onTrouble: (error, repeated) => void (repeated || troubles.push(error.message)),
    onListed: () => {
      lists += 1;
    },
    onWatching: () => {
      watches += 1;
    },
    after: timers,
    random: () => 0,
  });
  t.after(close);
  return {
    objects: () => objects,
    changes,
    troubles,
    lists: () => lists,
    watches: () => watches,
    close,
  };
}
