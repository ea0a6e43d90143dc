import type { Instances } from './instance.ts';

/** Somewhere that instances are known from: a file, DNS, the orchestrator. */
export type InstanceSource = {
  /**
   * Calls `onChange` with all instances as soon as they are known for the first time, and again
   * whenever they change. Until the first call nothing is known, which is not the same as knowing
   * of no instance. A source that can no longer look keeps what it last knew. The result ends the
   * watch; no call follows it.
   */
  watch(onChange: (instances: Instances) => void): () => void;
};
