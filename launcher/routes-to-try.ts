import { tryHttpRequest } from './http-request.ts';

export type RouteToTry = {
  /** `*` or a name, which may begin or end with `*`. */
  readonly domain: string;
  readonly path: string;
  /** The status that the edge answered. Absent when it did not answer in time. */
  readonly status?: number;
};

type VirtualHost = {
  readonly domains: readonly string[];
  readonly routes?: readonly {
    /** Set where Envoy answers itself, without a service. */
    readonly direct_response?: object;
    readonly match: {
      readonly prefix?: string;
      readonly path?: string;
      readonly path_separated_prefix?: string;
    };
  }[];
};

type ConfigDump = {
  readonly configs?: readonly {
    readonly route_config?: { readonly virtual_hosts?: readonly VirtualHost[] };
  }[];
};

/** Nobody asks for these by hand: the way back from a login, and the logout. */
const OWN_PATHS = '/.gateway/';

/** The most routes that are tried, all at the same time. */
const MOST_ASKED = 20;

/**
 * Returns `count` routes of the Envoy behind `admin`. Those that answer at `edge` come first,
 * because a line to try should work.
 */
export async function routesToTry(
  admin: string,
  edge: string,
  count: number,
): Promise<readonly RouteToTry[]> {
  const path = '/config_dump?resource=dynamic_route_configs';
  const dump = await tryHttpRequest({ address: admin, path });
  if (dump?.status !== 200) return [];
  const routes = parseRoutes(JSON.parse(dump.body)).slice(0, MOST_ASKED);
  return bestFirst(await Promise.all(routes.map(route => withStatus(edge, route)))).slice(0, count);
}

async function withStatus(edge: string, route: RouteToTry): Promise<RouteToTry> {
  const host = hostOf(route);
  const headers = host === undefined ? {} : { host };
  const answer = await tryHttpRequest({
    address: edge,
    path: route.path,
    headers,
    statusOnly: true,
  });
  return answer === undefined ? route : { ...route, status: answer.status };
}

/**
 * Sorts successes first, then redirects and refusals (such as those of a login), then all others.
 * Equals keep their order.
 */
export function bestFirst(routes: readonly RouteToTry[]): readonly RouteToTry[] {
  return routes.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ status = 600 }: RouteToTry): number {
  if (status < 300) return 0;
  return status < 400 || status === 401 || status === 403 ? 1 : 2;
}

/**
 * Returns the routes of a config dump that one can ask for as they stand, each once. Those by
 * regular expression and the gateway's own are left out.
 */
export function parseRoutes({ configs = [] }: ConfigDump): readonly RouteToTry[] {
  const hosts = configs.flatMap(config => config.route_config?.virtual_hosts ?? []);
  const found = hosts.flatMap(({ domains: [first = '*'], routes = [] }) => {
    const domain = uncut(first);
    if (domain === undefined) return [];
    return routes
      .filter(({ direct_response }) => direct_response === undefined)
      .map(({ match }) => match.prefix ?? match.path_separated_prefix ?? match.path)
      .filter(path => path !== undefined)
      .filter(path => !path.startsWith(OWN_PATHS))
      .map(path => ({ domain, path }));
  });
  return [...new Map(found.map(route => [`${route.domain} ${route.path}`, route])).values()];
}

/** A part of a list by its paths: the domain of the list with `|` for its star, then the paths. */
const PART = /^(\|?[^|]*\|?)\|/;
/** A part by the values of a header, which does not tell its domain. */
const PART_BY_VALUE = /^\|~/;

/** Returns the domain that clients ask for. See `controlplane/compile/routes/shard-header.ts`. */
function uncut(domain: string): string | undefined {
  if (PART_BY_VALUE.test(domain)) return undefined;
  return PART.exec(domain)?.[1]?.replace('|', '*') ?? domain;
}

/** Returns the command that asks the edge for it, with the status unless it was a success. */
export function curlLine(edge: string, route: RouteToTry): string {
  const { path, status } = route;
  const host = hostOf(route);
  const header = host === undefined ? '' : `-H 'Host: ${host}' `;
  const told = status === undefined || status < 300 ? '' : `   # answers ${status} now`;
  return `curl ${header}http://${edge}${path}${told}`;
}

/** Returns a name that the domain covers, or undefined for any. */
function hostOf({ domain }: RouteToTry): string | undefined {
  return domain === '*' ? undefined : domain.replace(/^\*/, 'www').replace(/\*$/, 'test');
}
