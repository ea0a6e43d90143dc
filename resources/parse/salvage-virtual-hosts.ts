import { pathPrefix } from '#resources/match/path-match.ts';
import type { ReadableHosts } from '#resources/resource.ts';
import { domain } from '#resources/words/domain.ts';
import { isFields } from '#resources/words/fields.ts';
import { nodeGroup } from '#resources/words/node-group.ts';

/**
 * Reads what a rejected ProxyConfig would have served. A domain or a prefix that cannot be read is
 * left out, so that no more is closed than it would have served.
 */
export function salvageVirtualHosts(spec: unknown): { virtualHosts?: ReadableHosts } {
  if (!isFields(spec) || !Array.isArray(spec.virtual_hosts)) return {};
  const group = nodeGroup.safeParse(spec.node_group);
  if (!group.success) return {};
  const hosts = spec.virtual_hosts.filter(isFields).map(({ domains, routes }) => ({
    domains: itemsOf(domains).flatMap(item => domain.safeParse(item).data ?? []),
    prefixes: itemsOf(routes).flatMap(route =>
      isFields(route) ? (pathPrefix.safeParse(route.prefix).data ?? []) : [],
    ),
  }));
  return { virtualHosts: { node_group: group.data, hosts } };
}

function itemsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}
