import type { Instances } from './instance.ts';
import { instancesNamed, NO_SUCH_PORT } from './instances-named.ts';

/** Which ports of services were asked for that the services do not have. */
export type MissedPorts = {
  /** Somebody asks for `service:port`, which nobody serves. */
  asked(name: string): void;
  /** From now on these are the instances. */
  served(instances: Instances): void;
  names(): readonly string[];
};

const MOST = 1_000;

/**
 * `onMissed` hears of each once, and again after there has been such a port; `known` are those that
 * the service has.
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
