import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { CompiledResource } from '../compiled.ts';
import { problemOf } from '../problem-of.ts';
import { listenerName } from './listener.ts';

/**
 * Returns the addresses without clashes. One address has one listener, and the edge's address of
 * TLS serves nothing in plain text.
 */
export function withoutClash(
  plain: readonly CompiledResource[],
  tls: CompiledResource | undefined,
): readonly CompiledResource[] {
  return tls === undefined ? plain : [...plain.filter(({ name }) => name !== tls.name), tls];
}

/** Returns Problems of ProxyConfigs whose listener is left out for that. */
export function tlsAddressProblems(
  { proxyConfigs }: ResourceSet,
  tls: CompiledResource | undefined,
): readonly Problem[] {
  return proxyConfigs.flatMap(proxyConfig => {
    const { listener } = proxyConfig.spec;
    if (listener === undefined || tls === undefined) return [];
    const name = listenerName({ host: listener.address, port: listener.port });
    if (name !== tls.name) return [];
    const message = `the edge speaks TLS at ${name} for its Hosts (EDGE_TLS_ADDRESS), so requests without TLS are not served there. Name another port`;
    return [problemOf(proxyConfig, 'error', 'spec.listener', message)];
  });
}
