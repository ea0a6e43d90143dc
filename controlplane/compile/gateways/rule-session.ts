import type { ServedRule } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import type { SessionPersistence } from '#resources/kinds/gateway-api/session-persistence.ts';
import { contentHash } from '../clusters/content-hash.ts';
import { toDuration } from '../duration.ts';
import { extension } from '../extension.ts';

const SESSION = 'envoy.filters.http.stateful_session';

/**
 * Envoy's filter that sends requests of a session to the instance that had the first one, as long
 * as it is there. Routes turn it on. It stands in every listener of a Gateway, so that the first
 * session drains none. Source: Envoy's page "Stateful session".
 */
export const SESSION_FILTER: JsonObject = {
  name: SESSION,
  disabled: true,
  typed_config: extension('filters.http.stateful_session.v3.StatefulSession'),
};

type SessionRule = Pick<ServedRule<unknown>, 'index'> & {
  readonly rule: { readonly name?: string; readonly sessionPersistence?: SessionPersistence };
};

/** Returns the part of a route that keeps the sessions of a rule. */
export function sessionChanges(routeId: string, { index, rule }: SessionRule): JsonObject {
  const { name, sessionPersistence: session } = rule;
  if (session === undefined) return {};
  const own = `${routeId}/${name === undefined ? index : named(name)}`;
  return perRoute({ stateful_session: { session_state: stateOf(session, own) } });
}

/** A rule may be called `1`, which is also the place of another one. */
function named(name: string): string {
  return /^\d+$/.test(name) ? `name ${name}` : name;
}

function stateOf(session: SessionPersistence, rule: string): JsonObject {
  const { absoluteTimeout = 0, cookie, header } = session;
  if (header !== undefined)
    return {
      name: 'envoy.http.stateful_session.header',
      typed_config: extension('http.stateful_session.header.v3.HeaderBasedSessionState', {
        name: header.name,
      }),
    };
  return {
    name: 'envoy.http.stateful_session.cookie',
    typed_config: extension('http.stateful_session.cookie.v3.CookieBasedSessionState', {
      cookie: {
        name: cookie?.name ?? `gateway-instance-${contentHash(rule)}`,
        path: cookie?.path || '/',
        ...(absoluteTimeout === 0 ? {} : { ttl: toDuration(wholeSeconds(absoluteTimeout)) }),
      },
    }),
  };
}

/** Envoy leaves out parts of a second. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

/** The part of a virtual host where the filter is in the chain of every request. */
export const SESSIONS_IN_CHAIN: JsonObject = perRoute({ disabled: true });

function perRoute(fields: JsonObject): JsonObject {
  const config = extension('filters.http.stateful_session.v3.StatefulSessionPerRoute', fields);
  return { typed_per_filter_config: { [SESSION]: config } };
}
