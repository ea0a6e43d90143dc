import { SERVED_SECRET } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Compiled, CompiledResource } from './compiled.ts';
import { edgeHosts } from './edge-hosts.ts';
import type { EdgeSecret } from './edge-secret.ts';
import type { Memo } from './memo.ts';
import { EDGE, ofNodeGroup, SDS } from './node-groups.ts';
import { compareText } from './order.ts';
import { problemOf } from './problem-of.ts';

/**
 * What the discovery service of secrets receives: a message for each secret that an edge listener names. What did not change gives the very same object. What is
 * wrong with them is said at the edge.
 */
export function servedSecrets(resources: ResourceSet, memo: Memo): Compiled {
  const { hosts } = edgeHosts(ofNodeGroup(resources, EDGE));
  const messages = new Map<string, CompiledResource>();
  for (const { origins, tls } of hosts) {
    if (tls === undefined || tls === 'broken') continue;
    const secrets = [tls.certificate, ...(tls.authorities === undefined ? [] : [tls.authorities])];
    for (const secret of secrets) {
      const others = messages.get(secret.name)?.origins ?? [];
      messages.set(secret.name, { ...message(secret, memo), origins: [...others, ...origins] });
    }
  }
  const sorted = [...messages.values()].sort((a, b) => compareText(a.name, b.name));
  return { resources: new Map([[SERVED_SECRET, sorted]]), problems: misplacedProblems(resources) };
}

function message({ content, name, owner }: EdgeSecret, memo: Memo) {
  const make = () => ({ '@type': SERVED_SECRET, name, node_groups: [EDGE], ...content() });
  // What a Secret's bytes become is kept with it, and goes with it.
  if (owner === undefined) return { name, json: make() };
  const [kind = ''] = name.split('/', 1);
  return { name, json: memo.of(owner, `served ${kind}`, [name], make) };
}

/** The group is no proxies': a Mapping or ProxyConfig for it is served by nobody. */
function misplacedProblems(resources: ResourceSet): readonly Problem[] {
  const { mappings, proxyConfigs } = ofNodeGroup(resources, SDS);
  return [...mappings, ...proxyConfigs].map(resource =>
    problemOf(
      resource,
      'error',
      'spec.node_group',
      `${SDS} is the gateway's own discovery service, not a node group of proxies: nothing serves this ${resource.kind}; name another node_group`,
    ),
  );
}
