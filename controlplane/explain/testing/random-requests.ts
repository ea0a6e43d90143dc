import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { seededRandom } from '#protos/testing/random.ts';
import type { ClientHeader, ClientRequest } from '../client-request.ts';
import type { Route, VirtualHost } from '../route-configuration.ts';

type Pick = <T>(items: readonly T[]) => T;

/** Parts of paths that are easily confused. */
const PATH_PARTS: readonly string[] = [
  '/',
  '//',
  '.',
  '..',
  '/.',
  '/..',
  '/../',
  '%2e',
  '%2E',
  ';',
  '..;x',
  '.;',
  'a',
  'b',
  '%41',
  '%',
  '4',
  '%34',
  '\\',
  '%5f',
  '%2F',
  '%5c',
  '%00',
  '%zz',
  '"',
  '|',
  "'",
  '^',
  '?',
  '?/../',
  '~',
  '%e9',
  'x/',
  '/user',
  '/a',
];
const HOST_TAILS: readonly string[] = [
  '',
  '',
  '',
  ':80',
  '.',
  '.:8080',
  ':',
  '..',
  ':x',
  '.example.com',
];
const METHODS: readonly string[] = ['GET', 'GET', 'POST', 'PUT', 'OPTIONS', 'DELETE'];

/**
 * Returns requests that come near to these routes: their hosts, paths, methods and headers, each
 * perhaps a little off.
 */
export function randomRequests(
  hosts: readonly VirtualHost[],
  seed: number,
  count: number,
): readonly ClientRequest[] {
  const random = seededRandom(seed);
  const pick: Pick = items => items[Math.floor(random() * items.length)] as (typeof items)[number];
  const routes = hosts.flatMap(({ routes }) => routes);
  return Array.from({ length: count }, () => {
    const route = routes.length === 0 ? undefined : pick(routes);
    return {
      method: pick([methodOf(route) ?? 'GET', ...METHODS]),
      authority: hostOf(pick, hosts) + pick(HOST_TAILS),
      target: pathOf(pick, route) + tail(pick, random()),
      headers: headersOf(pick, route),
      from: '127.0.0.1',
    };
  });
}

function hostOf(pick: Pick, hosts: readonly VirtualHost[]): string {
  const domain = pick([...hosts.flatMap(({ domains }) => domains), 'localhost']);
  const front = domain.replace(/^\*\.?/, pick(['', 'a.', 'A.b.', '.', 'a-a.', '*.']));
  const host = front.replace(/\*$/, pick(['', 'com', 'net', 'a.b', '*'])) || 'any';
  return pick([host, host, host.toUpperCase(), `x${host}`]);
}

function pathOf(pick: Pick, route: Route | undefined): string {
  const {
    prefix = '/',
    path_separated_prefix = prefix,
    path = path_separated_prefix,
    safe_regex,
  } = route?.match ?? {};
  const known = isJsonObject(safe_regex) ? fromRegex(pick, String(safe_regex.regex)) : String(path);
  return pick([known, known, known, known.slice(0, -1) || '/', `/${known}`, `/a/..${known}`]);
}

/** Returns a text that the expression often matches. */
function fromRegex(pick: Pick, regex: string): string {
  const text = regex
    .replaceAll(/\(\?[:i]\)?|\[\^\/\]\*|[()?]/g, '')
    .replaceAll('.*', pick(['', 'x', '..;']))
    .replaceAll(/\[a-z\]\+/g, pick(['abc', 'A']))
    .replaceAll(/\[0-9\]\+/g, pick(['7', 'x']))
    .replaceAll('\\', '');
  return `/${text}`.replace(/^\/+/, '/').replaceAll(/[^\x21-\x7e]|#/g, '');
}

function tail(pick: Pick, random: number): string {
  return Array.from({ length: Math.floor(random * random * 6) }, () => pick(PATH_PARTS)).join('');
}

function headersOf(pick: Pick, route: Route | undefined): readonly ClientHeader[] {
  return matchersOf(route).flatMap(({ name, string_match }): ClientHeader[] => {
    if (typeof name !== 'string' || name.startsWith(':') || FRAMING.includes(name)) return [];
    const exact = isJsonObject(string_match)
      ? sendable(String(string_match.exact ?? string_match.contains ?? ''))
      : 'x';
    const [right, wrong] = [
      { name, value: exact },
      { name, value: `${exact}x` },
    ];
    return pick([
      [right],
      [right],
      [],
      [{ name, value: '' }],
      [wrong],
      [right, right],
      [wrong, right],
    ]);
  });
}

/** Returns a value that the test's client can send. */
function sendable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, '').trim();
}

/** Most values of these make an invalid request. */
const FRAMING: readonly string[] = ['content-length', 'te'];

/** Over HTTP/1.1 Envoy routes only the methods that it knows, and no tunnels. */
const ROUTED: readonly string[] = [...METHODS, 'PATCH', 'PROPFIND'];

function methodOf(route: Route | undefined): string | undefined {
  const matcher = matchersOf(route).find(({ name }) => name === ':method');
  const method = isJsonObject(matcher?.string_match)
    ? String(matcher.string_match.exact)
    : undefined;
  return method === undefined || !ROUTED.includes(method) ? undefined : method;
}

function matchersOf(route: Route | undefined): readonly JsonObject[] {
  return objectsIn(route?.match.headers);
}
