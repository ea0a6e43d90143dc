import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';

/** The group of clients that may have no secrets; no node group can be called so. */
export const WITHOUT_SECRETS = '*';

/**
 * What aggregated streams bring, by node group: instances and secrets, as soon as all is known that
 * is served at all.
 */
export class AggregatedSnapshots {
  readonly cache = new SnapshotCache();
  readonly #secrets = new Map<string, Snapshot>([[WITHOUT_SECRETS, new Map()]]);
  #instances: Snapshot | undefined;

  /** `withInstances`: they are served, so that nothing is sent before they are known. */
  constructor(withInstances: boolean) {
    this.#instances = withInstances ? undefined : new Map();
  }

  setInstances(instances: Snapshot): void {
    this.#instances = instances;
    for (const [group, secrets] of this.#secrets) this.#publish(group, secrets);
  }

  /** Undefined: nobody of the group is there any more. */
  setSecrets(group: string, secrets: Snapshot | undefined): void {
    if (secrets === undefined) {
      this.#secrets.delete(group);
      this.cache.delete(group);
    } else {
      this.#secrets.set(group, secrets);
      this.#publish(group, secrets);
    }
  }

  #publish(group: string, secrets: Snapshot): void {
    if (this.#instances !== undefined)
      this.cache.set(group, new Map([...this.#instances, ...secrets]));
  }
}
