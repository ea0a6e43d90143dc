import { askedService } from '#resources/kinds/mapping/mapping-tls.ts';
import type { ProxyConfigSpec } from '#resources/kinds/proxy-config/proxy-config-spec.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Service } from '#resources/words/service.ts';
import { isProxyOf, serviceOfHost } from '../clusters/hop.ts';
import { EDGE } from '../node-groups.ts';
import { distinctUpgrades, mappingUpgrades } from './upgrades.ts';

/** Protocols in order, and the ids of the resources that allow them. */
export type SentUpgrades = {
  readonly upgrades: readonly string[];
  readonly origins: readonly string[];
};

/**
 * Returns the protocols that routes of other node groups allow for requests to the service of
 * `group`. The proxies beside its instances let these through, so that an upgrade is allowed in one
 * place. No group sends requests to the edge, and `https` services are on other servers.
 */
export function sentUpgrades({ mappings, proxyConfigs }: ResourceSet, group: string): SentUpgrades {
  if (group === EDGE) return { upgrades: [], origins: [] };
  const sent = [
    ...mappings.map(({ id, spec }) => ({
      ...{ id, caller: spec.node_group },
      upgrades: !spec.host_redirect && asks(group, askedService(spec)) ? mappingUpgrades(spec) : [],
    })),
    ...proxyConfigs.map(({ id, spec }) => ({
      ...{ id, caller: spec.node_group },
      upgrades: routesTo(group, spec).flatMap(({ allow_upgrade }) => allow_upgrade),
    })),
  ].filter(({ caller, upgrades }) => caller !== group && upgrades.length > 0);
  return {
    upgrades: distinctUpgrades(sent.flatMap(({ upgrades }) => upgrades)),
    origins: sent.map(({ id }) => id),
  };
}

function asks(group: string, { host, scheme }: Service): boolean {
  return scheme === 'http' && isOwn(group, host);
}

function routesTo(group: string, { clusters, virtual_hosts }: ProxyConfigSpec) {
  const own = clusters.filter(
    ({ name, service_name = name, type }) => type === 'sds' && isOwn(group, service_name),
  );
  const names = new Set(own.map(({ name }) => name));
  return virtual_hosts.flatMap(({ routes }) => routes).filter(({ cluster }) => names.has(cluster));
}

function isOwn(group: string, host: string): boolean {
  return isProxyOf(group, serviceOfHost(host));
}
