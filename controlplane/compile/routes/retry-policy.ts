import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { remembered } from '#xds/remembered.ts';
import { ANOTHER_HOST } from '../another-host.ts';
import { toDuration } from '../duration.ts';
import { RETRIABLE_HEADER } from './retriable-header.ts';

/**
 * How often Envoy looks for another instance than the one of the first try. Round robin finds it at
 * once. By hash each look is random. With `least_request` a dead instance of two comes up three
 * times in four, since it has the fewest requests [measured]. By weight a heavy one has many turns
 * in a row. A look is cheap.
 */
const LOOKS = 200;

const UNSEEN = ['connect-failure', 'refused-stream', 'reset-before-request', 'retriable-headers'];

/**
 * One retry, on another instance, of a request that no instance has begun to work on. It is safe
 * for every method. An application proxy says so of its instance by a header. Source: Envoy's page
 * "Router", `x-envoy-retry-on`.
 */
export const RETRY_POLICY: JsonObject = {
  retry_on: UNSEEN.join(),
  retriable_headers: [{ name: RETRIABLE_HEADER, present_match: true }],
  num_retries: 1,
  ...ANOTHER_HOST,
  host_selection_retry_max_attempts: LOOKS,
};

/**
 * The `timeout` of every route. Envoy's is for the whole answer, and would cut streams: events,
 * long downloads, gRPC. Their bound is the time without a byte.
 */
export const NO_END = '0s';

/**
 * Returns the part of a `RetryPolicy` that bounds the wait for an answer. Envoy counts it from the
 * end of the request until the answer begins. 0 means no limit.
 */
export function timeToAnswer(...bounds: readonly number[]): JsonObject {
  const bounding = bounds.filter(bound => bound > 0);
  return bounding.length === 0 ? {} : { per_try_timeout: toDuration(Math.min(...bounding)) };
}

const USUAL_TIMEOUT_MS = 3_000;

/** The policy of a Mapping that says nothing. */
const USUAL_POLICY: JsonObject = { ...RETRY_POLICY, ...timeToAnswer(USUAL_TIMEOUT_MS) };

/** The part of a virtual host that gives the usual policy to routes without their own. */
export const HOST_RETRIES: JsonObject = { retry_policy: USUAL_POLICY };

/** A policy that fewer routes share stays with each. So an edit seldom moves it. */
const FEWEST_SHARING = 64;

/**
 * Returns the same virtual host. It gives its routes the policy that most of them have, if that is
 * not the usual one. Envoy reads the policy of a virtual host once. That of each route takes a
 * third of the time of an edit among 10,000 [measured].
 */
export function sharedRetries(host: JsonObject): JsonObject {
  const { retry_policy, routes } = host;
  if (retry_policy !== USUAL_POLICY || !Array.isArray(routes)) return host;
  return { ...host, ...sharingRoutes(routes) };
}

/** A list of routes that does not change is the very same one in the next compilation. */
const sharingRoutes = remembered((written: readonly Json[]): JsonObject => {
  const routes = objectsIn(written);
  const each = routes.map(sharing);
  const counts = new Map<string | undefined, number>();
  for (const sharing of each)
    if (sharing !== undefined) counts.set(sharing.text, (counts.get(sharing.text) ?? 0) + 1);
  const fewest = Math.max(counts.get(undefined) ?? 0, FEWEST_SHARING);
  const [[most, count] = [undefined, 0]] = [...counts].sort(([, a], [, b]) => b - a);
  if (most === undefined || count <= fewest) return {};
  const shared = routes.map((route, index) => {
    const sharing = each[index];
    if (sharing === undefined) return route;
    return sharing.text === undefined || sharing.text === most ? sharing.other : route;
  });
  return { routes: shared, retry_policy: JSON.parse(most) };
});

/**
 * The policy of a route as JSON, if it has its own. `other` is the same route for a virtual host
 * that has this policy for it, or for one that has another policy than the usual one.
 */
type Sharing = { readonly text: string | undefined; readonly other: JsonObject };

/** A route that does not change is the very same object in the next compilation. */
const known = new WeakMap<JsonObject, Sharing>();

/** A route that forwards nothing has none. */
function sharing(route: JsonObject): Sharing | undefined {
  if (!isJsonObject(route.route)) return undefined;
  const before = known.get(route);
  if (before !== undefined) return before;
  const { retry_policy, ...action } = route.route;
  const made =
    retry_policy === undefined
      ? { text: undefined, other: { ...route, route: { ...action, ...HOST_RETRIES } } }
      : { text: oneText(JSON.stringify(retry_policy)), other: { ...route, route: action } };
  known.set(route, made);
  return made;
}

const texts = new Map<string, string>();

/** Returns the very same text for equal ones. Of ten thousand routes each would be compared. */
function oneText(text: string): string {
  const before = texts.get(text);
  if (before !== undefined) return before;
  if (texts.size >= MOST_TEXTS) texts.clear();
  texts.set(text, text);
  return text;
}

/** Far more policies than a site has. */
const MOST_TEXTS = 1_000;

/**
 * Returns the part of a Mapping's route for retries. The operator's conditions join ours. Otherwise
 * an operator who asks for more would lose requests that are safe to retry.
 */
export function retriesOf({
  retry_policy,
  timeout_ms,
}: Pick<MappingSpec, 'retry_policy' | 'timeout_ms'>): JsonObject {
  if (retry_policy === undefined) return retriesWithin(timeout_ms);
  const { retry_on, num_retries, per_try_timeout = 0 } = retry_policy;
  return {
    retry_policy: {
      ...RETRY_POLICY,
      retry_on: [...new Set([...UNSEEN, ...retry_on])].join(),
      num_retries,
      ...timeToAnswer(timeout_ms, per_try_timeout),
    },
  };
}

/** Returns the part of a route for retries where only the time to answer is chosen. 0: no limit. */
export function retriesWithin(timeoutMs: number): JsonObject {
  if (timeoutMs === USUAL_TIMEOUT_MS) return {};
  return { retry_policy: { ...RETRY_POLICY, ...timeToAnswer(timeoutMs) } };
}
