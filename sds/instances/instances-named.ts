import type { Instance, Instances } from './instance.ts';

/**
 * The value of `service:*` when a port number without an entry means no instance. It is no service
 * itself, so it is neither listed nor counted.
 */
export const NO_SUCH_PORT: readonly Instance[] = [];

export const ANY_PORT = ':*';

/**
 * Returns the instances that a client means by a name. The name itself comes first. Where
 * `service:<number>` does not exist, `service:*` is used, else `service`. The instances of
 * `service` bring their own ports.
 * @returns undefined when the name is unknown
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
