import type { Logger } from 'pino';
import { type Drained, isDrained } from '#files/drained-store.ts';
import type { Cluster } from '#kubernetes/cluster.ts';
import { follow } from '#kubernetes/follow.ts';
import { isRecord, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { createObject, patchObject } from '#kubernetes/write.ts';
import type { After } from '#process/after.ts';
import type { ShareDrain } from './orders.ts';

export type SharedDrainsParts = {
  readonly cluster: Cluster;
  /** Of the ConfigMap, in the namespace of this process. */
  readonly name: string;
  /** Called with all that is drained, once it is known and at each change. */
  take(drained: readonly Drained[]): void;
  readonly log: Logger;
  readonly after: After;
  random(): number;
};

export type SharedDrains = { readonly share: ShareDrain; close(): void };

/**
 * Shares what is drained among the control planes of a cluster, in a ConfigMap with a key for each
 * instance. So two of them never overwrite what the other has drained. While the API is away, the
 * last state stays.
 */
export function shareDrains(parts: SharedDrainsParts): SharedDrains {
  const { after, cluster, log, name, random, take } = parts;
  const { namespace } = cluster;
  const resource = { group: '', version: 'v1', plural: 'configmaps', namespace };
  const target = { cluster, resource };
  const following = follow({
    ...{ cluster, resource, fieldSelector: `metadata.name=${name}`, after, random },
    read: drainedIn,
    onChange: objects => {
      try {
        take([...objects.values()].flat());
      } catch (err) {
        log.error({ err }, 'cannot store which instances are drained');
      }
    },
    onTrouble: ({ message }, repeated) => {
      if (!repeated) log.warn({ reason: message }, 'what other control planes drain is unknown');
    },
  });
  return {
    share: async (instance, isDrained) => {
      const data = { [keyOf(instance)]: isDrained ? JSON.stringify(instance) : null };
      let written = await patchObject(target, name, { data });
      if (written.kind === 'missing') {
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } };
        // When another control plane was faster there is one to patch.
        await createObject(target, object);
        written = await patchObject(target, name, { data });
      }
      if (written.kind !== 'written')
        throw new Error(`the ConfigMap ${namespace}/${name} cannot be written: ${written.message}`);
    },
    close: () => following.close(),
  };
}

/** A key of a ConfigMap has letters, digits, `-`, `_` and `.`. */
function keyOf({ address, port }: Drained): string {
  return `${address.replaceAll(':', '_')}.${port}`;
}

/** What an operator has written wrongly by hand drains nothing. */
function drainedIn({ data }: KubernetesObject): readonly Drained[] {
  return Object.values(isRecord(data) ? data : {}).flatMap(text => {
    try {
      const value: unknown = JSON.parse(String(text));
      return isDrained(value) ? [{ address: value.address, port: value.port }] : [];
    } catch {
      return [];
    }
  });
}
