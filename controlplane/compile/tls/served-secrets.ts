import { SERVED_SECRET } from '#protos/type-url.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Compiled, CompiledResource } from '../compiled.ts';
import type { Memo } from '../memo.ts';
import { misplacedProblems } from '../misplaced-problems.ts';
import { EDGE, ofNodeGroup, SDS } from '../node-groups.ts';
import { byName } from '../order.ts';
import { edgeHosts } from './edge-hosts.ts';
import type { EdgeSecret } from './edge-secret.ts';

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
  return {
    resources: new Map([[SERVED_SECRET, byName(messages.values())]]),
    problems: misplacedProblems(resources, SDS),
  };
}

function message({ content, name, named, owner }: EdgeSecret, memo: Memo) {
  const make = () => ({ '@type': SERVED_SECRET, name, node_groups: [EDGE], ...content(), ...named });
  // What a Secret's bytes become is kept with it, and goes with it.
  if (owner === undefined) return { name, json: make() };
  const [kind = ''] = name.split('/', 1);
  return { name, json: memo.of(owner, `served ${kind}`, [name], make) };
}
