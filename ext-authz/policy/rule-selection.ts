import { detachedText } from '#ext-authz/http/header-text.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { type PolicyIndex, type Selected, selectRule } from './policy.ts';

/**
 * How many paths are remembered, and how long each may be. Clients can ask for any number of
 * others.
 */
const MOST = 5_000;
const LONGEST = 256;

/**
 * Returns `selectRule` by one index. It looks up the rule of a path only once while it is
 * remembered.
 */
export function rememberedSelection(
  index: PolicyIndex,
): (request: Pick<HttpRequest, 'authority' | 'target'>) => Selected {
  const byAuthority = new Map<string, Map<string, Selected>>();
  let count = 0;
  const remember = (authority: string, path: string, selected: Selected) => {
    if (count >= MOST) byAuthority.clear();
    count = count >= MOST ? 1 : count + 1;
    const byPath = byAuthority.get(authority) ?? new Map<string, Selected>();
    byAuthority.set(authority, byPath.set(path, selected));
  };
  return request => {
    const { authority, target } = request;
    const query = target.indexOf('?');
    const path = query === -1 ? target : target.slice(0, query);
    const known = byAuthority.get(authority)?.get(path);
    if (known !== undefined) return known;
    const selected = selectRule(index, request);
    if (path.length <= LONGEST) remember(detachedText(authority), detachedText(path), selected);
    return selected;
  };
}
