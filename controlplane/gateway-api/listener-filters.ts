import { headersSetBy } from '#resources/kinds/filter/injected-headers.ts';
import { headerIdentity } from '#resources/words/header-identity.ts';
import type { Fault } from './condition.ts';
import type { GatewayContext } from './gateway-context.ts';
import { filterNamed, unsupported } from './reference.ts';
import type { Ask } from './remembered.ts';
import type { WrittenListener } from './route-parent.ts';
import type { AnyRule } from './route-rules.ts';
import type { ListenerFilters } from './served-gateway.ts';

/** What the filters of a listener come to. */
export type ListenerFiltersVerdict = {
  /** Undefined when the listener has none. */
  readonly filters: ListenerFilters | undefined;
  readonly accepted: readonly Fault[];
  readonly resolved: readonly Fault[];
};

const NONE: ListenerFiltersVerdict = { filters: undefined, accepted: [], resolved: [] };

/**
 * Resolves the filters of a listener. One that cannot run closes the listener. It stays served, as
 * its requests would otherwise fall to a listener for more hosts, which asks for less.
 */
export function listenerFilters(
  { id, origin, spec, field }: WrittenListener,
  ask: Ask<Pick<GatewayContext, 'options' | 'filter'>>,
): ListenerFiltersVerdict {
  const { requests = [] } = spec.filters ?? {};
  if (requests.length === 0) return NONE;
  const each = requests.map(({ extensionRef }, at) => {
    const place = `${field}.filters.requests[${at}]`;
    return extensionRef === undefined
      ? unsupported(place, 'ExternalAuth')
      : filterNamed(extensionRef, `${place}.extensionRef`, origin.namespace, ask);
  });
  const faults = each.filter(one => 'reason' in one);
  const [accepted, resolved] = [
    faults.filter(({ reason }) => reason === 'UnsupportedValue'),
    faults.filter(({ reason }) => reason !== 'UnsupportedValue'),
  ];
  const broken = faults[0]?.message;
  return {
    filters: {
      listener: id,
      filters: each.filter(one => 'spec' in one),
      ...(broken === undefined ? {} : { broken }),
    },
    accepted,
    resolved,
  };
}

/**
 * Returns why a rule cannot be served behind the Filters of a listener. They run in one call with
 * those of the route, so Envoy has chosen the route before. Where no match reads what they set,
 * that is the same route. Elsewhere a client would choose by a header of its own.
 */
export function matchFaults(
  rule: AnyRule,
  index: number,
  { filters, listener }: ListenerFilters,
): readonly Fault[] {
  const setters = new Map(
    filters.flatMap(filter => headersSetBy(filter).map(name => [name, filter] as const)),
  );
  const matches = 'matches' in rule ? rule.matches : [];
  return matches.flatMap(({ headers }, match) =>
    headers.flatMap(({ name }, at) => {
      const setter = setters.get(headerIdentity(name.toLowerCase()));
      if (setter === undefined) return [];
      const field = `spec.rules[${index}].matches[${match}].headers[${at}]`;
      const message = `the Filter ${setter.namespace}/${setter.name} of the listener ${listener} sets the header ${name}, and a route cannot be chosen by it`;
      return [{ reason: 'UnsupportedValue', field, message }];
    }),
  );
}
