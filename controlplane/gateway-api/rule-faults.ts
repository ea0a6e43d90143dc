import type { ConnectionRule } from '#resources/kinds/gateway-api/connection-rule.ts';
import type { HeaderModifier } from '#resources/kinds/gateway-api/header-modifier.ts';
import type { GrpcRouteRule } from '#resources/kinds/grpc-route/grpc-route-spec.ts';
import type { HttpRouteRule } from '#resources/kinds/http-route/http-route-spec.ts';
import {
  FRAMING_HEADERS,
  INTERNAL_HEADERS,
  isReserved,
} from '#resources/words/reserved-headers.ts';
import type { Fault } from './condition.ts';

/** A rule of any kind of route. */
export type AnyRule = HttpRouteRule | GrpcRouteRule | ConnectionRule;

export type AnyFilter = (HttpRouteRule | GrpcRouteRule)['filters'][number];

/** Returns what a rule asks for and is not served here. `field` is its path. */
export function ruleFaults(rule: AnyRule, field: string): readonly Fault[] {
  if (!('filters' in rule)) return [];
  return [
    ...headerFaults(rule.filters, field),
    ...rule.backendRefs.flatMap(({ filters }, at) => [
      ...backendFilterFaults(filters, `${field}.backendRefs[${at}]`),
      ...headerFaults(filters, `${field}.backendRefs[${at}]`),
    ]),
    ...sessionFaults(rule, `${field}.sessionPersistence`),
  ];
}

function unsupported(field: string, message: string): Fault {
  return { reason: 'UnsupportedValue', field, message };
}

/** Filters that decide whether a request may pass stand at the rule, before a backend is chosen. */
function backendFilterFaults(filters: readonly AnyFilter[], field: string): readonly Fault[] {
  return filters.flatMap(({ type }, at) =>
    NOT_OF_BACKENDS.includes(type)
      ? [unsupported(`${field}.filters[${at}]`, `a backend has no filter ${type} here`)]
      : [],
  );
}

const NOT_OF_BACKENDS: readonly string[] = [
  'CORS',
  'ExtensionRef',
  'ExternalAuth',
  'RequestMirror',
  'RequestRedirect',
];

/**
 * Envoy rejects routes that change `Host` in a list of headers. With another length or framing a
 * service would take the rest of a body for the next request, which may be another client's.
 */
function headerFaults(filters: readonly AnyFilter[], field: string): readonly Fault[] {
  return filters.flatMap(({ requestHeaderModifier, responseHeaderModifier }, at) => {
    const names = [requestHeaderModifier, responseHeaderModifier].flatMap(namesIn);
    const place = `${field}.filters[${at}]`;
    const own = names.find(isOwn);
    return [
      ...(names.includes('host')
        ? [unsupported(place, 'only URLRewrite changes the header Host')]
        : []),
      ...(own === undefined ? [] : [unsupported(place, `no route changes the header ${own}`)]),
    ];
  });
}

/** Returns whether a header, in lower case, is the proxies' own. No Mapping changes it either. */
function isOwn(name: string): boolean {
  return isReserved(name, [...FRAMING_HEADERS, ...INTERNAL_HEADERS]);
}

function namesIn(modifier: HeaderModifier | undefined): readonly string[] {
  const { add = [], remove = [], set = [] } = modifier ?? {};
  const names = [...[...add, ...set].map(({ name }) => name), ...remove];
  return names.map(name => name.toLowerCase());
}

/** What tells the session names an instance, and neither its backend nor a time. */
function sessionFaults(
  { backendRefs, sessionPersistence: session }: HttpRouteRule | GrpcRouteRule,
  field: string,
): readonly Fault[] {
  if (session === undefined) return [];
  const used = backendRefs.filter(({ weight }) => weight > 0);
  const header = session.header?.name.toLowerCase() ?? '';
  return [
    ...(isOwn(header)
      ? [unsupported(`${field}.header.name`, `no route changes the header ${header}`)]
      : []),
    ...(used.length > 1
      ? [unsupported(field, 'sessions are not kept where several backends have a weight')]
      : []),
    ...(session.type === 'Header' && (session.absoluteTimeout ?? 0) > 0
      ? [unsupported(`${field}.absoluteTimeout`, 'a session that a header carries has no end')]
      : []),
  ];
}
