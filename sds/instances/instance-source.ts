import type { Instances } from './instance.ts';

/** Something that knows instances, such as a file, DNS or the orchestrator. */
export type InstanceSource = {
  /**
   * Calls `onChange` with all instances as soon as they are known, and again whenever they change.
   * Before the first call the instances are unknown, which differs from knowing that there are
   * none. A source that can no longer look keeps what it last knew. The result ends the watch, and
   * no call follows it.
   */
  watch(onChange: (instances: Instances) => void): () => void;
};
