import type { JsonObject } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';

/**
 * Envoy passes the `Connection` of a request for an upgrade on as the client wrote it. A proxy
 * before a service removes every header that it names (RFC 9110, section 7.6.1), also one that the
 * gateway has set. Other requests have no such header any more when a table's changes are made.
 */
export const UPGRADE_ALONE: JsonObject = {
  header: { key: 'connection', value: 'upgrade' },
  append_action: 'OVERWRITE_IF_EXISTS',
};

/** Returns protocols that requests may switch to, in lower case, each once, in order. */
export function distinctUpgrades(upgrades: readonly string[]): readonly string[] {
  return [...new Set(upgrades)].sort();
}

/** Returns those of a Mapping. */
export function mappingUpgrades({
  allow_upgrade,
  use_websocket,
}: Pick<MappingSpec, 'allow_upgrade' | 'use_websocket'>): readonly string[] {
  return distinctUpgrades([...allow_upgrade, ...(use_websocket ? ['websocket'] : [])]);
}

/**
 * Returns the upgrades of a `RouteAction`. The listener allows none, so a route without this
 * answers 403. The filters are those of any request. Source: Envoy's page "HTTP upgrades".
 */
export function upgradeConfigs(upgrades: readonly string[]): JsonObject {
  if (upgrades.length === 0) return {};
  return { upgrade_configs: upgrades.map(upgrade_type => ({ upgrade_type })) };
}
