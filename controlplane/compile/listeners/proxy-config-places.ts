import type { ResourceSet } from '#resources/resource-set.ts';
import type { HostPort } from '#resources/words/host.ts';
import type { Hop } from '../clusters/hop.ts';
import { listenerName } from './listener.ts';

/** An address that ProxyConfigs ask for. */
export type Place = {
  readonly address: HostPort;
  readonly origins: readonly string[];
  readonly plain: boolean;
};

/**
 * Returns the addresses. One that several ProxyConfigs share is plain only if all of them say so.
 */
export function proxyConfigPlaces(
  { proxyConfigs }: Pick<ResourceSet, 'proxyConfigs'>,
  { isDefault }: Pick<Hop, 'isDefault'>,
): readonly Place[] {
  const found = new Map<string, Place>();
  for (const { id, spec } of proxyConfigs) {
    if (spec.listener === undefined) continue;
    const { address: host, port, hop_tls = isDefault } = spec.listener;
    const name = listenerName({ host, port });
    const { origins, plain } = found.get(name) ?? { origins: [], plain: true };
    found.set(name, {
      address: { host, port },
      origins: [...origins, id],
      plain: plain && !hop_tls,
    });
  }
  return [...found.values()];
}
