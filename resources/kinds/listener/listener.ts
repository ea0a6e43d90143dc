import { caution, type Finding, fault } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { type EdgeListenerSpec, listenerSpec } from './listener-spec.ts';

/** A port of the edge, and the Hosts that are reached there. */
export const listener: KindDefinition<typeof listenerSpec> = {
  summary: 'A port of the edge, and the Hosts that are reached there.',
  schema: listenerSpec,
  fieldsAt: 'spec',
  // A field that is left out could bind more Hosts, or trust more clients.
  unknownField: 'error',
  check: spec => [...checkProtocol(spec), ...checkSecurity(spec)],
};

/** What is below HTTP. */
export type Layers = { readonly tls: boolean; readonly proxyProtocol: boolean };

/**
 * Returns the layers of a port.
 * @returns undefined when the stack is none that is served
 */
export function layersOf({
  protocol,
  protocolStack = [],
}: Pick<Partial<EdgeListenerSpec>, 'protocol' | 'protocolStack'>): Layers | undefined {
  if (protocol !== undefined)
    return { tls: protocol.startsWith('HTTPS'), proxyProtocol: protocol.endsWith('PROXY') };
  const layers = protocolStack.filter(layer => layer !== 'PROXY');
  const tls = layers[0] === 'TLS';
  const proxies = protocolStack.length - layers.length;
  const isServed =
    layers.join() === (tls ? 'TLS,HTTP,TCP' : 'HTTP,TCP') &&
    protocolStack.at(-1) === 'TCP' &&
    proxies < 2;
  return isServed ? { tls, proxyProtocol: proxies === 1 } : undefined;
}

function checkProtocol(spec: Partial<EdgeListenerSpec>): readonly Finding[] {
  const { protocol, protocolStack } = spec;
  if (protocol !== undefined && protocolStack !== undefined)
    return [fault(['protocolStack'], '`protocol` and `protocolStack` exclude each other')];
  if (protocolStack === undefined || layersOf(spec) !== undefined) return [];
  const served = 'served are [HTTP, TCP] and [TLS, HTTP, TCP], each with PROXY before TCP or not';
  return [fault(['protocolStack'], `[${protocolStack.join(', ')}] is not served: ${served}`)];
}

function checkSecurity(spec: Partial<EdgeListenerSpec>): readonly Finding[] {
  if (spec.securityModel !== 'INSECURE' || layersOf(spec)?.tls !== true) return [];
  const message =
    'requests over TLS count as insecure too, so a Host that redirects them to https does so for ever';
  return [caution(['securityModel'], message)];
}
