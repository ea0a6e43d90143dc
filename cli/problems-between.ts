import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { checkTlsSecrets } from '#controlplane/compile/tls/tls-secrets.ts';
import type { Collected } from '#resources/parse/collect.ts';
import type { Problem } from '#resources/problem.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { compileOptions } from './built-in-addresses.ts';

/**
 * Returns Problems between resources that are each valid, such as a route to an unknown cluster.
 */
export function problemsBetween({ resources, rejected }: Collected, now: number): Problem[] {
  const secrets = checkTlsSecrets({ resources, rejected }, [], now).problems;
  const set = toResourceSet(resources.values(), rejected.values());
  const options = compileOptions({});
  return [...secrets, ...nodeGroups(set).flatMap(group => compile(set, group, options).problems)];
}
