import { RE2JS } from 're2js';
import { RETRY_ON_HEADER } from '#controlplane/compile/routes/repeat-safe-methods.ts';
import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { withoutPort } from './request-host.ts';
import type { RouteMatch } from './route-match.ts';
import { type Share, sharesOf } from './shares.ts';

/** A header that a route or virtual host changes. */
export type HeaderChange = {
  readonly name: string;
  /** The value as written, with Envoy's `%…%`. Absent: the header is removed. */
  readonly value?: string;
  /** Whether it is added beside an existing one. */
  readonly append?: boolean;
};

/** What the service gets of a request, and the timeouts. Times are Envoy's, such as `3s`. */
export type SentRequest = {
  /** Rewritten, with query. */
  readonly path: string;
  /** The Host that the service sees. `of its address`: the name of the chosen instance. */
  readonly host: string;
  /** The timeout until the beginning of an answer. Absent: none. */
  readonly answerWithin?: string;
  /** The timeout without a byte in either direction. Absent: the listener's. */
  readonly idle?: string;
  readonly retries: number;
  readonly retryOn: readonly string[];
  readonly requestHeaders: readonly HeaderChange[];
  readonly responseHeaders: readonly HeaderChange[];
};

/** Methods that retry after a reset (`repeat-safe-methods.ts`). */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns what goes to each target of a route, in their order. */
export function sentRequests(match: RouteMatch, request: EnvoyRequest): readonly SentRequest[] {
  return sharesOf(match).map(share => sentRequest(share, match, request));
}

function sentRequest(
  { route, weighted }: Share,
  { virtualHost }: RouteMatch,
  request: EnvoyRequest,
): SentRequest {
  const action: JsonObject = route.route ?? {};
  const own: JsonObject = weighted ?? {};
  const host = virtualHost as unknown as JsonObject;
  const policy = action.retry_policy ?? host.retry_policy;
  const retry = isJsonObject(policy) ? policy : {};
  const [asked = ''] = request.headers.get(':path') ?? [];
  const parts: readonly JsonObject[] = [own, route as JsonObject, host];
  const added = parts.flatMap(part => changes(part, 'request'));
  const conditions = String(retry.retry_on ?? '')
    .split(',')
    .filter(condition => condition !== '');
  const [method = ''] = request.headers.get(':method') ?? [];
  // The table adds it, unless the route removes it.
  const repeatsResets = !added.some(({ name }) => name === RETRY_ON_HEADER) && SAFE.has(method);
  return {
    path: rewritten(request.path, action, route.match) + asked.slice(request.path.length),
    host: hostOf({ ...action, ...own }, request),
    ...textAs('answerWithin', retry.per_try_timeout),
    ...textAs('idle', action.idle_timeout),
    retries: Number(retry.num_retries ?? 0),
    retryOn: [...conditions, ...(repeatsResets ? ['reset'] : [])],
    requestHeaders: added.filter(({ name }) => name !== RETRY_ON_HEADER),
    responseHeaders: parts.flatMap(part => changes(part, 'response')),
  };
}

/** Returns the `Location` of a route's redirect. Source: Envoy's page of `RedirectAction`. */
export function redirectTarget({ route }: RouteMatch, request: EnvoyRequest): string | undefined {
  const { redirect } = route;
  if (redirect === undefined) return undefined;
  const { headers, path } = request;
  const [asked = ''] = headers.get(':path') ?? [];
  const [authority = ''] = headers.get(':authority') ?? [];
  const [proto = 'http'] = headers.get('x-forwarded-proto') ?? [];
  const {
    host_redirect = withoutPort(authority),
    https_redirect,
    scheme_redirect,
    path_redirect,
    port_redirect,
  } = redirect;
  const scheme = https_redirect === true ? 'https' : String(scheme_redirect ?? proto);
  const defaultPort = scheme === 'https' ? 443 : 80;
  const port =
    port_redirect === undefined || port_redirect === defaultPort ? '' : `:${port_redirect}`;
  const query = asked.slice(path.length);
  const to =
    typeof path_redirect === 'string' ? path_redirect : rewritten(path, redirect, route.match);
  return `${scheme}://${host_redirect}${port}${to}${to.includes('?') ? '' : query}`;
}

/**
 * Returns the rewritten path. Source: Envoy's page of `RouteAction`, `prefix_rewrite` and
 * `regex_rewrite`.
 */
function rewritten(path: string, action: JsonObject, match: JsonObject): string {
  const { prefix_rewrite, regex_rewrite } = action;
  if (typeof prefix_rewrite === 'string') {
    const matched = match.prefix ?? match.path_separated_prefix ?? match.path;
    return prefix_rewrite + path.slice(typeof matched === 'string' ? matched.length : path.length);
  }
  if (!isJsonObject(regex_rewrite) || !isJsonObject(regex_rewrite.pattern)) return path;
  const matcher = RE2JS.compile(String(regex_rewrite.pattern.regex)).matcher(path);
  const substitution = String(regex_rewrite.substitution ?? '');
  let made = '';
  let end = 0;
  while (matcher.find()) {
    const group = (digit: string) => matcher.group(Number(digit)) ?? '';
    // RE2 writes groups as `\1` and a backslash as `\\`.
    const text = substitution.replace(/\\(\d|\\)/g, (_, what) =>
      what === '\\' ? what : group(what),
    );
    made += path.slice(end, matcher.start()) + text;
    end = matcher.end();
  }
  return made + path.slice(end);
}

function hostOf(action: JsonObject, { headers }: EnvoyRequest): string {
  if (typeof action.host_rewrite_literal === 'string') return action.host_rewrite_literal;
  if (action.auto_host_rewrite === true) return 'of its address';
  return headers.get(':authority')?.[0] ?? '';
}

function changes(part: JsonObject, of: 'request' | 'response'): readonly HeaderChange[] {
  const added = objectsIn(part[`${of}_headers_to_add`]).map(({ append_action, header }) => ({
    name: text(header, 'key'),
    value: text(header, 'value'),
    append: String(append_action ?? 'APPEND').startsWith('APPEND'),
  }));
  const removed = part[`${of}_headers_to_remove`];
  const names = Array.isArray(removed) ? removed.map(String) : [];
  return [...added, ...names.map(name => ({ name }))];
}

function text(header: Json | undefined, key: string): string {
  return isJsonObject(header) ? String(header[key] ?? '') : '';
}

function textAs<Name extends string>(
  name: Name,
  value: Json | undefined,
): { readonly [K in Name]?: string } {
  return (typeof value === 'string' ? { [name]: value } : {}) as { readonly [K in Name]?: string };
}
