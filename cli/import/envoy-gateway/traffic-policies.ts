import type { Fields } from '#resources/words/fields.ts';
import { fieldsAt, textAt } from '../fields-at.ts';
import { changed, closed, dropped, type Remark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { rateLimits } from './rate-limits.ts';
import type { PolicyPart } from './security-policy.ts';
import type { Rule } from './targets.ts';

const TARGETS = ['targetRef', 'targetRefs', 'targetSelectors', 'mergeType'];

/** Fields of a BackendTrafficPolicy that have no place in a route, and what to do. */
const BACKEND: ReadonlyMap<string, string> = new Map(
  Object.entries({
    circuitBreaker: 'write `circuit_breakers` into a Mapping or the Module',
    healthCheck: 'write `health_checks` into a Mapping',
    loadBalancer: 'write `sessionPersistence` into the rule, or `load_balancer` into a Mapping',
    retry: 'write `retry` into the rule',
    responseOverride: 'write `error_response_overrides` into the Module',
    requestBuffer: 'bodies have no bound of size. Let the service bound them',
  }),
);

/** Returns what can be said of a BackendTrafficPolicy: the time of a request, and limits. */
export function backendTraffic(
  policy: SourceObject,
  rules: readonly Rule[],
  objects: readonly SourceObject[],
): PolicyPart {
  const spec = fieldsAt(policy.fields, 'spec');
  const limits = rateLimits(policy, objects);
  const request = textAt(fieldsAt(spec, 'timeout', 'http'), 'requestTimeout');
  const remarks = Object.keys(spec)
    .filter(field => ![...TARGETS, 'rateLimit', 'timeout'].includes(field))
    .map(field =>
      dropped(['spec', field], BACKEND.get(field) ?? 'the gateway has nothing like it'),
    );
  return {
    edits: request === undefined ? [] : rules.map(rule => ({ ...rule, timeouts: { request } })),
    documents: limits.documents,
    remarks: [...limits.remarks, ...remarks, ...lostTimes(spec)],
  };
}

function lostTimes(spec: Fields): readonly Remark[] {
  const { tcp } = fieldsAt(spec, 'timeout');
  const { requestTimeout: _, ...others } = fieldsAt(spec, 'timeout', 'http');
  return [
    ...(tcp === undefined ? [] : [dropped(['spec', 'timeout', 'tcp'], CONNECT)]),
    ...Object.keys(others).map(field =>
      dropped(['spec', 'timeout', 'http', field], 'the gateway has a bound of its own'),
    ),
  ];
}

const CONNECT = 'a connection has 3 seconds. Write `connect_timeout_ms` into a Mapping for more';

/** Fields of a ClientTrafficPolicy that restrict nothing, and what to do. */
const CLIENT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    clientIPDetection: 'write `xff_num_trusted_hops` into the Module',
    enableProxyProtocol: 'the PROXY protocol is not read',
    proxyProtocol: 'the PROXY protocol is not read',
    path: 'paths are merged and decoded alike on all listeners. See `escaped_slashes` of the Module',
    http3: 'HTTP/3 is not served',
    timeout: 'clients have the times of every listener',
    connection: 'clients have the bounds of every listener',
  }),
);

/** Closes what a ClientTrafficPolicy demands of clients, and tells what else it loses. */
export function clientTraffic(policy: SourceObject, rules: readonly Rule[]): PolicyPart {
  const spec = fieldsAt(policy.fields, 'spec');
  const { clientValidation, ...tls } = fieldsAt(spec, 'tls');
  const early = fieldsAt(spec, 'headers', 'earlyRequestHeaders');
  const remarks = [
    ...(clientValidation === undefined
      ? []
      : [closed(['spec', 'tls', 'clientValidation'], VALIDATION)]),
    ...(Object.keys(early).length === 0
      ? []
      : [closed(['spec', 'headers', 'earlyRequestHeaders'], EARLY)]),
    ...(Object.keys(tls).length === 0 ? [] : [changed(['spec', 'tls'], TLS)]),
    ...Object.keys(spec)
      .filter(field => ![...TARGETS, 'tls'].includes(field))
      .map(field =>
        dropped(['spec', field], CLIENT.get(field) ?? 'the gateway has nothing like it'),
      ),
  ];
  const isClosed = remarks.some(({ effect }) => effect === 'closed');
  return {
    edits: isClosed ? rules.map(rule => ({ ...rule, isClosed })) : [],
    documents: [],
    remarks,
  };
}

const VALIDATION =
  'write `spec.tls.frontend` with `validation.caCertificateRefs` into the Gateway. Then write `backendRefs` into the rules again';
const EARLY =
  'write a RequestHeaderModifier into the rules, which runs after Filters. Then write `backendRefs` into them again';
const TLS = 'versions and suites are those of the gateway. TLS below 1.2 is not spoken';
