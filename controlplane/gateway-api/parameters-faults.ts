import type { ObjectRef } from '#resources/kinds/gateway-api/object-ref.ts';
import type { Fault } from './condition.ts';
import type { ObjectsContext } from './gateway-context.ts';
import { kindText } from './reference-faults.ts';

/** Returns why settings for the proxies of a Gateway, which a ProxyConfig has, cannot be used. */
export function parametersFaults(
  ref: ObjectRef | undefined,
  field: string,
  { options, proxyConfig }: ObjectsContext,
): readonly Fault[] {
  if (ref === undefined) return [];
  const { group, kind, name, namespace } = ref;
  const fault = (message: string) => [{ reason: 'InvalidParameters', field, message }];
  if (kind !== 'ProxyConfig' || !options.apiGroups.includes(group))
    return fault(`${kindText(group, kind)} is not served here. Name a ProxyConfig of ours`);
  if (namespace === undefined) return fault('a ProxyConfig has a namespace, so name it');
  return proxyConfig(namespace, name) === undefined
    ? fault(`there is no ProxyConfig ${namespace}/${name}`)
    : [];
}
