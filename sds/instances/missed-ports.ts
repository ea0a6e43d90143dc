import type { Instances } from './instance.ts';
import { instancesNamed, NO_SUCH_PORT } from './instances-named.ts';

/** Tracks the ports that clients asked for and that the services do not have. */
export type MissedPorts = {
  /** Records that a client asked for `service:port`, which no instance serves. */
  asked(name: string): void;
  /** Replaces the instances. */
  served(instances: Instances): void;
  names(): readonly string[];
};

const MOST = 1_000;

/**
 * Reports each missed port once. It is reported again after such a port has existed meanwhile.
 * `known` are the ports that the service has.
 */
export function missedPorts(
  onMissed: (name: string, known: readonly string[]) => void,
): MissedPorts {
  const missed = new Set<string>();
  let served: Instances = new Map();
  return {
    asked(name) {
      if (missed.has(name) || missed.size >= MOST) return;
      missed.add(name);
      onMissed(name, portsOf(served, name.slice(0, name.lastIndexOf(':') + 1)));
    },
    served(instances) {
      served = instances;
      for (const name of missed)
        if (instancesNamed(instances, name) !== NO_SUCH_PORT) missed.delete(name);
    },
    names: () => [...missed].sort(),
  };
}

function portsOf(instances: Instances, service: string): readonly string[] {
  return [...instances]
    .filter(([name, members]) => name.startsWith(service) && members !== NO_SUCH_PORT)
    .map(([name]) => name.slice(service.length))
    .sort();
}
