import { RATE_LIMIT } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Compiled, CompiledResource } from './compiled.ts';
import { headerIdentity } from './header-identity.ts';
import { hostLabelKeys } from './host-label-keys.ts';
import { takenIn } from './injected-headers.ts';
import type { Memo } from './memo.ts';
import { ofNodeGroup, RATELIMIT_SERVICE } from './node-groups.ts';
import { compareText } from './order.ts';
import { problemOf } from './problem-of.ts';
import { rateLimitMessageName, toRateLimitMessage } from './rate-limit-message.ts';
import { type TakenHeaders, takenHeaders } from './taken-headers.ts';

/**
 * What the built-in rate limit service receives: one message for each RateLimit of every domain. A RateLimit that did not change
 * gives the very same object. What is wrong with limits is said where labels are: at the edge.
 */
export function compileRateLimits(resources: ResourceSet, memo: Memo): Compiled {
  const taken = takenHeaders(resources);
  const hostKeys = hostLabelKeys(resources);
  const messages = resources.rateLimits.map(rateLimit =>
    message(rateLimit, takenIn(rateLimit.spec, taken), hostKeys.get(rateLimit.spec.domain) ?? [], memo),
  );
  return {
    resources: new Map([[RATE_LIMIT, messages.sort((a, b) => compareText(a.name, b.name))]]),
    problems: misplacedProblems(resources),
  };
}

function message(
  rateLimit: Resource<'RateLimit'>,
  taken: TakenHeaders,
  hostKeys: readonly string[],
  memo: Memo,
): CompiledResource {
  const name = rateLimitMessageName(rateLimit);
  const inputs = [name, JSON.stringify(hostKeys), ...leftOut(rateLimit, taken)];
  const json = memo.of(rateLimit.spec, 'message', inputs, () =>
    toRateLimitMessage(rateLimit, taken, hostKeys),
  );
  return { name, json, origins: [rateLimit.id] };
}

/** All of the taken headers that decides about the message. */
function leftOut({ spec }: Resource<'RateLimit'>, taken: TakenHeaders): readonly string[] {
  const headers = spec.limits.flatMap(({ injectRequestHeaders }) => injectRequestHeaders);
  return headers.map(({ name }) => headerIdentity(name)).filter(name => taken.has(name));
}

/** The group is no proxies': a Mapping or ProxyConfig for it is served by nobody. */
function misplacedProblems(resources: ResourceSet): readonly Problem[] {
  const { mappings, proxyConfigs } = ofNodeGroup(resources, RATELIMIT_SERVICE);
  return [...mappings, ...proxyConfigs].map(resource =>
    problemOf(
      resource,
      'error',
      'spec.node_group',
      `${RATELIMIT_SERVICE} is the gateway's own rate limit service, not a node group of proxies: nothing serves this ${resource.kind}; name another node_group`,
    ),
  );
}
