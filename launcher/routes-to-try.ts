import { tryHttpRequest } from './http-request.ts';

export type RouteToTry = {
  /** `*` or a name, which may begin with `*`. */
  readonly domain: string;
  readonly path: string;
};

type VirtualHost = {
  readonly domains: readonly string[];
  readonly routes?: readonly {
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

/** What the Envoy behind `admin` routes, one path a virtual host and then further ones, up to `count`. */
export async function routesToTry(admin: string, count: number): Promise<readonly RouteToTry[]> {
  const answer = await tryHttpRequest({
    address: admin,
    path: '/config_dump?resource=dynamic_route_configs',
  });
  return answer?.status === 200 ? parseRoutes(JSON.parse(answer.body)).slice(0, count) : [];
}

/** The routes of a config dump that one can ask for as they stand, each once: not those by regular expression, nor the gateway's own. */
export function parseRoutes({ configs = [] }: ConfigDump): readonly RouteToTry[] {
  const hosts = configs.flatMap(config => config.route_config?.virtual_hosts ?? []);
  return hosts.flatMap(({ domains: [domain = '*'], routes = [] }) => {
    const paths = routes
      .map(({ match }) => match.prefix ?? match.path_separated_prefix ?? match.path)
      .filter(path => path !== undefined)
      .filter(path => !path.startsWith(OWN_PATHS));
    return [...new Set(paths)].map(path => ({ domain, path }));
  });
}

/** The command that asks the edge for it. */
export function curlLine(edge: string, { domain, path }: RouteToTry): string {
  const host = domain === '*' ? '' : `-H 'Host: ${domain.replace(/^\*/, 'www')}' `;
  return `curl ${host}http://${edge}${path}`;
}
