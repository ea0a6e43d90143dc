import { RATE_LIMIT } from '#protos/type-url.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { PrefixLengths } from '#resources/words/address-network.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import { byName } from '#resources/words/order.ts';
import type { Compiled, CompiledResource } from '../compiled.ts';
import type { Memo } from '../memo.ts';
import { misplacedProblems } from '../misplaced-problems.ts';
import { RATELIMIT_SERVICE } from '../node-groups.ts';
import { takenIn } from './injected-headers.ts';
import { type LabelKeys, labelKeys, NO_LABEL_KEYS } from './label-keys.ts';
import { rateLimitMessageName, toRateLimitMessage } from './rate-limit-message.ts';
import { type TakenHeaders, takenHeaders } from './taken-headers.ts';

/**
 * Returns what the built-in rate limit service receives: one message for each RateLimit of every
 * domain. A RateLimit that did not change gives the very same object. Problems of limits are
 * reported where labels are: at the edge. `applied` are the RateLimits that requests may meet. The
 * labels of others say nothing of headers and labels.
 */
export function rateLimitMessages(
  resources: ResourceSet,
  applied: ResourceSet['rateLimits'],
  memo: Memo,
): Compiled {
  const known = { ...resources, rateLimits: applied };
  const taken = takenHeaders(known);
  const keys = labelKeys(known);
  const { remote_address_prefix: prefixes } = resources.config;
  const messages = resources.rateLimits.map(rateLimit => {
    const meanings = { keys: keys.get(rateLimit.spec.domain) ?? NO_LABEL_KEYS, prefixes };
    return message(rateLimit, takenIn(rateLimit.spec, taken), meanings, memo);
  });
  return {
    resources: new Map([[RATE_LIMIT, byName(messages)]]),
    problems: misplacedProblems(resources, RATELIMIT_SERVICE),
  };
}

function message(
  rateLimit: Resource<'RateLimit'>,
  taken: TakenHeaders,
  meanings: { readonly keys: LabelKeys; readonly prefixes: PrefixLengths },
  memo: Memo,
): CompiledResource {
  const name = rateLimitMessageName(rateLimit);
  const inputs = [name, JSON.stringify(meanings), ...leftOut(rateLimit, taken)];
  const json = memo.of(rateLimit.spec, 'message', inputs, () =>
    toRateLimitMessage(rateLimit, taken, meanings.keys, meanings.prefixes),
  );
  return { name, json, origins: [rateLimit.id] };
}

/** Returns the taken headers that decide about the message. */
function leftOut({ spec }: Resource<'RateLimit'>, taken: TakenHeaders): readonly string[] {
  const headers = spec.limits.flatMap(({ injectRequestHeaders }) => injectRequestHeaders);
  return headers.map(({ name }) => headerIdentity(name)).filter(name => taken.has(name));
}
