import type { Snapshot } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';

/** The group of clients that may have no secrets. No node group can have this name. */
export const WITHOUT_SECRETS = '*';

/**
 * Merges instances and secrets into the snapshots of aggregated streams, by node group. A snapshot
 * is sent as soon as all its parts are known.
 */
export class AggregatedSnapshots {
  readonly cache = new SnapshotCache();
  readonly #secrets = new Map<string, Snapshot>([[WITHOUT_SECRETS, new Map()]]);
  #instances: Snapshot | undefined;

  /**
   * `withInstances` means that instances are served. Then nothing is sent before they are known.
   */
  constructor(withInstances: boolean) {
    this.#instances = withInstances ? undefined : new Map();
  }

  setInstances(instances: Snapshot): void {
    this.#instances = instances;
    for (const [group, secrets] of this.#secrets) this.#publish(group, secrets);
  }

  /** Undefined means that the group has no stream any more. */
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
