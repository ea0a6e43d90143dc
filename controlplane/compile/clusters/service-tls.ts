import { DEFAULT_TRUST_DOMAIN } from '#certificates/identity.ts';
import type { JsonObject } from '#protos/json.ts';
import type { HostPort } from '#resources/words/host.ts';
import { isLoopback } from '#resources/words/origin.ts';
import type { CompileOptions } from '../options.ts';
import { hopClientTls } from './hop-tls.ts';

/**
 * Returns mutual TLS to our service of node group `group`, unless it is on the proxies' own
 * machine.
 */
export function serviceTls(
  { host }: HostPort,
  group: string,
  { serviceTls = false, trustDomain = DEFAULT_TRUST_DOMAIN }: CompileOptions,
): { readonly transportSocket?: JsonObject } {
  if (!serviceTls || isLoopback(host)) return {};
  return { transportSocket: hopClientTls(trustDomain, { groups: [group] }) };
}
