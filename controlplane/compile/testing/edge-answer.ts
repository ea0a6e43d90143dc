import pino from 'pino';
import { Checker } from '#ext-authz/checker.ts';
import { FILTER_TYPES, FilterSet } from '#ext-authz/filters/filter-set.ts';
import { createMetrics } from '#ext-authz/metrics.ts';
import { readAnswer } from '#ext-authz/testing/direct-checks.ts';
import { allowing, scriptedKit } from '#ext-authz/testing/scripted-kit.ts';
import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import type { Compiled } from '../compiled.ts';

/**
 * The result of a request: an answer of the gateway itself, or an upstream gets it behind these
 * Filters.
 */
export type EdgeAnswer = { readonly status: number } | { readonly ran: readonly string[] };

type Route = JsonObject & { readonly match: JsonObject };
type VirtualHost = JsonObject & {
  readonly domains: readonly string[];
  readonly routes: readonly Route[];
};

const FILTER_NAME = 'envoy.filters.http.ext_authz';
const RAN = 'x-ran-';

/**
 * Follows a GET without TLS through routes and the real Checker, which gets the bytes that it would
 * get. Every Filter that can be opened lets it pass. The order is Envoy's: one virtual host, its
 * first route that matches, filters before the route's own answer.
 */
export function edgeAnswers(edge: Compiled, decisions: Snapshot, table = 'edge') {
  const tables = edge.resources.get(ROUTE_CONFIGURATION) ?? [];
  const routes = tables.find(({ name }) => name === table)?.json;
  const hosts = routes?.virtual_hosts as unknown as readonly VirtualHost[];
  const checker = checkerOf(decisions);
  return (host: string, path: string): EdgeAnswer => {
    const virtualHost = virtualHostOf(hosts, host);
    const route = virtualHost?.routes.find(({ match }) => matches(match, host, path));
    if (virtualHost === undefined || route === undefined) return { status: 404 };
    const passed: EdgeAnswer =
      isOff(route) || isOff(virtualHost) ? { ran: [] } : checker(host, path);
    if ('status' in passed) return passed;
    if (route.redirect !== undefined) return { status: 301 };
    const own = route.direct_response;
    return isJsonObject(own) ? { status: Number(own.status) } : passed;
  };
}

function checkerOf(decisions: Snapshot): (host: string, path: string) => EdgeAnswer {
  const set = new FilterSet();
  const updates = FILTER_TYPES.map(typeUrl =>
    set.update({
      ...{ typeUrl, removed: [], complete: true },
      changed: [...(decisions.get(typeUrl)?.values() ?? [])],
    }),
  );
  const last = updates.at(-1);
  const rejected = updates.find(update => 'error' in update);
  if (rejected !== undefined || last === undefined || 'error' in last || last.value === undefined)
    throw new Error(`ext-authz refuses what it gets: ${JSON.stringify(rejected)}`);
  const names = [...last.value.definitions.keys()];
  const kit = scriptedKit(
    Object.fromEntries(
      names.map(name => [name, allowing({ [RAN + name.replace('/', '--')]: 'x' })]),
    ),
  );
  const log = pino({ level: 'silent' });
  const checker = new Checker({
    kit,
    log,
    metrics: createMetrics(),
    uptime: () => 0,
    after: () => () => {},
  });
  checker.use(last.value);
  return (host, path) => {
    const message = {
      host,
      path,
      isHttp: true,
      method: 'GET',
      scheme: 'http',
      address: '192.0.2.1',
      routeRule: '',
      beforeRoute: false,
    };
    const answer = checker.check(
      { ...message, headers: new Map(), body: new Uint8Array() },
      undefined,
    );
    if (answer === undefined || answer instanceof Promise) throw new Error('no answer at once');
    const { denied_response: denied, ok_response: allowed } =
      'encoded' in answer ? readAnswer(answer.encoded) : answer;
    const rejected = denied?.status.code;
    if (rejected !== undefined) return { status: rejected };
    const set = (allowed?.headers ?? [])
      .map(({ header }) => header.key)
      .filter(key => key.startsWith(RAN));
    return { ran: set.map(key => key.slice(RAN.length).replace('--', '/')).sort() };
  };
}

function isOff({ typed_per_filter_config: config }: JsonObject): boolean {
  const own = isJsonObject(config) ? config[FILTER_NAME] : undefined;
  return isJsonObject(own) && own.disabled === true;
}

function virtualHostOf(hosts: readonly VirtualHost[], host: string): VirtualHost | undefined {
  const fits = (domain: string) =>
    domain === host ||
    (domain.startsWith('*') && domain.length <= host.length && host.endsWith(domain.slice(1)));
  const all = hosts.flatMap(one => one.domains.filter(fits).map(domain => ({ domain, one })));
  const exact = all.find(({ domain }) => domain === host);
  return (exact ?? all.sort((a, b) => b.domain.length - a.domain.length)[0])?.one;
}

function matches(match: JsonObject, host: string, path: string): boolean {
  const { case_sensitive = true, headers = [], path: exact, prefix, safe_regex: regex } = match;
  const compared = (text: string) => (case_sensitive === true ? text : text.toLowerCase());
  const isPath =
    (typeof exact === 'string' && compared(path) === compared(exact)) ||
    (typeof prefix === 'string' && compared(path).startsWith(compared(prefix))) ||
    (isJsonObject(regex) && fullMatch(String(regex.regex), path));
  const values = new Map([
    [':authority', host],
    [':path', path],
    ['x-forwarded-proto', 'http'],
  ]);
  return isPath && (headers as readonly JsonObject[]).every(header => fitsHeader(header, values));
}

function fitsHeader(condition: JsonObject, values: ReadonlyMap<string, string>): boolean {
  const { invert_match = false, name, present_match, string_match: text } = condition;
  const missing = condition.treat_missing_header_as_empty === true ? '' : undefined;
  const value = values.get(String(name)) ?? missing;
  if (present_match === true) return (value !== undefined) !== invert_match;
  if (!isJsonObject(text))
    throw new Error(`a condition that is not known: ${JSON.stringify(condition)}`);
  // Envoy: a missing header matches no string, not even inverted.
  if (value === undefined) return false;
  const fits = fitsText(text, value);
  return fits !== invert_match;
}

function fitsText({ contains, exact, prefix, safe_regex: regex }: JsonObject, value: string) {
  if (isJsonObject(regex)) return fullMatch(String(regex.regex), value);
  if (typeof contains === 'string') return value.includes(contains);
  return typeof prefix === 'string' ? value.startsWith(prefix) : value === exact;
}

function fullMatch(regex: string, text: string): boolean {
  const folded = regex.startsWith('(?i)');
  return new RegExp(`^(?:${folded ? regex.slice(4) : regex})$`, folded ? 'is' : 's').test(text);
}
