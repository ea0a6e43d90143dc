import { SERVED_SECRET } from '#protos/type-url.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { byName } from '#resources/words/order.ts';
import type { Compiled, CompiledResource } from '../compiled.ts';
import type { Memo } from '../memo.ts';
import { misplacedProblems } from '../misplaced-problems.ts';
import { EDGE, ofNodeGroup, SDS, SERVICE_GROUPS } from '../node-groups.ts';
import { edgeHosts } from './edge-hosts.ts';
import type { ProxySecret, SecretUser } from './proxy-secret.ts';
import { contextIdOf, resolveServiceContext, serviceContexts } from './service-context.ts';

/** A secret with all its users. */
type Used = {
  readonly secret: ProxySecret;
  readonly groups: Set<string>;
  readonly origins: Set<string>;
};

/**
 * Returns what the discovery service of secrets receives: a message for each secret that an edge
 * listener or a cluster names. What did not change gives the very same object. Problems are
 * reported where the secrets are named.
 */
export function servedSecrets(
  resources: ResourceSet,
  ofGateways: readonly SecretUser[],
  memo: Memo,
): Compiled {
  const used = new Map<string, Used>();
  for (const { group, origins, secret } of [
    ...usesOfHosts(resources),
    ...usesOfMappings(resources),
    ...ofGateways,
  ]) {
    const known = used.get(secret.name) ?? { secret, groups: new Set(), origins: new Set() };
    known.groups.add(group);
    for (const origin of origins) known.origins.add(origin);
    used.set(secret.name, known);
  }
  const messages = [...used.values()].map(each => message(each, memo));
  return {
    resources: new Map([[SERVED_SECRET, byName(messages)]]),
    problems: misplacedProblems(resources, SDS),
  };
}

function usesOfHosts(resources: ResourceSet): readonly SecretUser[] {
  const { hosts } = edgeHosts(ofNodeGroup(resources, EDGE));
  return hosts.flatMap(({ origins, tls }) =>
    tls === undefined || tls === 'broken'
      ? []
      : present(tls.certificate, tls.authorities).map(secret => ({ secret, group: EDGE, origins })),
  );
}

function usesOfMappings(resources: ResourceSet): readonly SecretUser[] {
  const contexts = new Map(
    serviceContexts(resources).map(context => {
      const found = resolveServiceContext(context, resources.secrets);
      return [context.id, 'problems' in found ? [] : present(found.certificate, found.authorities)];
    }),
  );
  if (contexts.size === 0) return [];
  return resources.mappings.flatMap(mapping => {
    const group = mapping.spec.node_group;
    const id = contextIdOf(mapping);
    if (id === undefined || SERVICE_GROUPS.includes(group)) return [];
    return (contexts.get(id) ?? []).map(secret => ({ secret, group, origins: [mapping.id, id] }));
  });
}

function present(...secrets: readonly (ProxySecret | undefined)[]): readonly ProxySecret[] {
  return secrets.filter(secret => secret !== undefined);
}

function message({ groups, origins, secret }: Used, memo: Memo): CompiledResource {
  const { content, name, named, owner } = secret;
  const node_groups = [...groups].sort();
  const make = () => ({ '@type': SERVED_SECRET, name, node_groups, ...content(), ...named });
  // The message is kept with the Secret whose bytes it holds, and goes with it.
  const [kind = ''] = name.split('/', 1);
  const json =
    owner === undefined
      ? make()
      : memo.of(owner, `served ${kind}`, [name, node_groups.join()], make);
  return { name, json, origins: [...origins] };
}
