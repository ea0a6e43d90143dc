import { tryHttpRequest } from './http-request.ts';

export type RouteToTry = {
  /** `*` or a name, which may begin or end with `*`. */
  readonly domain: string;
  readonly path: string;
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
      readonly headers?: readonly { readonly name: string }[];
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

/**
 * Returns `count` routes of the Envoy behind `admin`. They are not asked, since a request may have
 * an effect, and counts towards limits.
 */
export async function routesToTry(admin: string, count: number): Promise<readonly RouteToTry[]> {
  const path = '/config_dump?resource=dynamic_route_configs';
  const dump = await tryHttpRequest({ address: admin, path });
  return dump?.status === 200 ? parseRoutes(JSON.parse(dump.body)).slice(0, count) : [];
}

/**
 * Returns the routes of a config dump that one can ask for as they stand, each once. Those by
 * regular expression, for some methods and the gateway's own are left out.
 */
export function parseRoutes({ configs = [] }: ConfigDump): readonly RouteToTry[] {
  const hosts = configs.flatMap(config => config.route_config?.virtual_hosts ?? []);
  const found = hosts.flatMap(({ domains: [first = '*'], routes = [] }) => {
    const domain = uncut(first);
    if (domain === undefined) return [];
    return routes
      .filter(({ direct_response }) => direct_response === undefined)
      .filter(({ match }) => match.headers?.some(({ name }) => name === ':method') !== true)
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

/** Returns the command that asks the edge for it. */
export function curlLine(edge: string, route: RouteToTry): string {
  const host = hostOf(route);
  const header = host === undefined ? '' : `-H 'Host: ${host}' `;
  return `curl ${header}http://${edge}${route.path}`;
}

/** Returns a name that the domain covers, or undefined for any. */
function hostOf({ domain }: RouteToTry): string | undefined {
  return domain === '*' ? undefined : domain.replace(/^\*/, 'www').replace(/\*$/, 'test');
}
