import type { Resources } from './snapshot.ts';
import type { Subscription } from './subscription.ts';

/** Returns what a resource is a part of: all before its name's last slash, as Envoy reads it. */
export function wholeOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/'));
}

/** Clients choose what they ACK, and each combination may take as much memory as all of it. */
const MOST_VIEWS = 32;

const known = new WeakMap<Resources, readonly string[]>();
const views = new WeakMap<Resources, Map<string, Resources>>();

/** Returns the names of what these resources are parts of. */
export function wholesOf(resources: Resources): readonly string[] {
  const names = known.get(resources) ?? [...new Set([...resources.keys()].map(wholeOf))];
  known.set(resources, names);
  return names;
}

/**
 * Returns the resources whose whole the client has ACKed. All streams for which these are the same
 * share them.
 */
export function partsFor(
  resources: Resources,
  wholes: Pick<Subscription<never, never>, 'knows'>,
): Resources {
  const names = wholesOf(resources);
  const acked = names.filter(name => wholes.knows(name) === 'acked');
  if (acked.length === names.length) return resources;
  const ofResources = views.get(resources) ?? new Map<string, Resources>();
  views.set(resources, ofResources);
  const key = JSON.stringify(acked);
  const shared = ofResources.get(key);
  if (shared !== undefined) return shared;
  const [oldest] = ofResources.keys();
  if (ofResources.size >= MOST_VIEWS && oldest !== undefined) ofResources.delete(oldest);
  const view = new Map([...resources].filter(([name]) => acked.includes(wholeOf(name))));
  ofResources.set(key, view);
  return view;
}
