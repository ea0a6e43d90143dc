import { delegateOf, injectedBy } from '#resources/kinds/filter/injected-headers.ts';
import type { Resource } from '#resources/resource.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import type { Fault } from './condition.ts';
import type { Filters } from './reference.ts';
import type { Ask } from './remembered.ts';
import type { AnyFilter, AnyRule } from './rule-faults.ts';
import type { ServedRule } from './served-gateway.ts';

/** A rule, and why it is closed because it replaces what a Filter sets. */
type Checked = { readonly rule: ServedRule<AnyRule>; readonly faults: readonly Fault[] };

/**
 * Closes a rule that sets a request header which a Filter before it sets. The service would take
 * what the route says for what the Filter found out. A Mapping is closed for the same.
 */
export function closeReplacing(rule: ServedRule<AnyRule>, ask: Ask<Filters>): Checked {
  const faults = replacedHeaders(rule, ask);
  const [first] = faults;
  return first === undefined
    ? { rule, faults }
    : { rule: { ...rule, broken: first.message }, faults };
}

function replacedHeaders(
  { filters, index, listener, policy, rule }: ServedRule<AnyRule>,
  ask: Ask<Filters>,
): readonly Fault[] {
  const stages = listener?.stages ?? [];
  const before = [
    ...stages.flatMap(stage => ('filters' in stage ? stage.filters : [])),
    ...(policy?.filters ?? []),
    ...filters,
  ];
  const setters = new Map(
    before
      .flatMap(filter => [filter, ...delegatesOf(filter, ask)])
      .flatMap(filter => injectedBy(filter).map(name => [headerIdentity(name), filter] as const)),
  );
  if (setters.size === 0 || !('filters' in rule)) return [];
  const inList = (list: readonly AnyFilter[], field: string) =>
    list.flatMap(({ requestHeaderModifier }, at): readonly Fault[] => {
      const { add = [], set = [] } = requestHeaderModifier ?? {};
      return [...set, ...add].flatMap(({ name }) => {
        const setter = setters.get(headerIdentity(name));
        if (setter === undefined) return [];
        const message = `the header ${name} is set by the Filter ${setter.namespace}/${setter.name}, and a route may not replace it`;
        return [{ reason: 'UnsupportedValue', field: `${field}.filters[${at}]`, message }];
      });
    });
  const field = `spec.rules[${index}]`;
  return [
    ...inList(rule.filters, field),
    ...rule.backendRefs.flatMap((backend, at) =>
      inList(backend.filters, `${field}.backendRefs[${at}]`),
    ),
  ];
}

/** Returns the Filter that gets the access tokens of this one, in a list. */
function delegatesOf(filter: Resource<'Filter'>, ask: Ask<Filters>): readonly Resource<'Filter'>[] {
  const delegate = delegateOf(filter);
  if (delegate === undefined) return [];
  const { name, namespace = filter.namespace } = delegate;
  const found = ask(context => context.filter(namespace, name));
  return found === undefined ? [] : [found];
}
