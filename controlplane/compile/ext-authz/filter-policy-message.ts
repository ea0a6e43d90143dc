import type { JsonObject } from '#protos/json.ts';
import { FILTER_POLICY } from '#protos/type-url.ts';
import type {
  FilterArguments,
  FilterPolicyRule,
  FilterReference,
  InnerFilterReference,
  InsteadOfRedirect,
  TargetFilter,
} from '#resources/kinds/filter-policy/filter-policy.ts';
import type { Resource } from '#resources/resource.ts';
import { toCondition } from './filter-message.ts';

/** Returns `gateway.config.v1.FilterPolicy`: what the Filter service gets of a FilterPolicy. */
export function toFilterPolicyMessage({
  namespace,
  name,
  spec,
}: Resource<'FilterPolicy'>): JsonObject {
  return {
    '@type': FILTER_POLICY,
    namespace,
    name,
    precedence: spec.precedence,
    rules: spec.rules.map(rule => toRule(rule, namespace)),
  };
}

const NEXT = { break: 'BREAK', continue: 'CONTINUE' } as const;
const SAME_SITE = { lax: 'LAX', strict: 'STRICT', none: 'NONE' } as const;
/** See docs/reference/kinds/filter-policy.md. */
const DEFAULT_STATUS = 403;

function toRule({ host, path, filters }: FilterPolicyRule, namespace: string): JsonObject {
  return { host, path, filters: filters.map(item => toReference(item, namespace)) };
}

/** Returns a Filter of a FilterPolicy with targets. All of them must let a request pass. */
export function toTargetFilter(filter: TargetFilter, namespace: string): JsonObject {
  return toReference({ ...filter, onDeny: 'break', onAllow: 'continue' }, namespace);
}

function toReference(
  {
    name,
    namespace,
    ifRequestHeader,
    onDeny,
    onAllow,
    arguments: given,
  }: FilterReference | InnerFilterReference,
  own: string,
): JsonObject {
  return {
    name,
    namespace: namespace ?? own,
    ...toCondition(ifRequestHeader),
    on_deny: NEXT[onDeny],
    on_allow: NEXT[onAllow],
    arguments: toArguments(given, own),
  };
}

function toArguments(
  { scope, insteadOfRedirect, sameSite }: FilterArguments,
  own: string,
): JsonObject {
  return {
    ...(scope === undefined ? {} : { scope: { values: scope } }),
    ...(insteadOfRedirect === undefined
      ? {}
      : { instead_of_redirect: toInstead(insteadOfRedirect, own) }),
    ...(sameSite === undefined ? {} : { same_site: SAME_SITE[sameSite] }),
  };
}

function toInstead(
  { ifRequestHeader, httpStatusCode, filters }: InsteadOfRedirect,
  own: string,
): JsonObject {
  const decides =
    filters === undefined
      ? { http_status_code: httpStatusCode ?? DEFAULT_STATUS }
      : { filters: filters.map(item => toReference(item, own)) };
  return { ...toCondition(ifRequestHeader), ...decides };
}
