import type { Instance, Instances } from './instance.ts';

/**
 * Under `service:*`: none of its instances is meant by a port number that has no entry. No service
 * itself: nobody lists or counts it.
 */
export const NO_SUCH_PORT: readonly Instance[] = [];

export const ANY_PORT = ':*';

/**
 * The instances that a client means by a name: those of the name itself; of `service:<number>`,
 * where there is no such name, those of `service:*`, else those of `service`, which bring their
 * ports. Undefined: the name is not known.
 */
export function instancesNamed(
  instances: Instances,
  name: string,
): readonly Instance[] | undefined {
  const found = instances.get(name);
  if (found !== undefined) return found;
  const service = /^(.+):\d+$/.exec(name)?.[1];
  return service === undefined
    ? undefined
    : (instances.get(service + ANY_PORT) ?? instances.get(service));
}
