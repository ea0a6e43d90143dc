import { ownText } from '#ext-authz/http/header-text.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { type PolicyIndex, type Selected, selectRule } from './policy.ts';

/** Paths that are remembered, and how long they are at most: anyone can ask for others. */
const MOST = 5_000;
const LONGEST = 256;

/**
 * `selectRule` by one index, which looks once for the rule of a path that is asked for again and
 * again.
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
    if (path.length <= LONGEST) remember(ownText(authority), ownText(path), selected);
    return selected;
  };
}
