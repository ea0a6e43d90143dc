import type { RoutePath } from '#controlplane/console/views/coverage.ts';
import type { RouteRow } from '#controlplane/console/views/route-row.ts';

type Route = Pick<RouteRow, 'hosts' | 'listeners' | 'paths'>;
type Edge = { readonly host: string; readonly port: number };

/**
 * Returns a line for a shell that sends a request to a route. The author of the route chooses its
 * path, and must not choose what the shell runs.
 */
export function curlLine({ hosts, listeners, paths }: Route, edge: Edge): string {
  const [{ path } = { path: '/' }] = paths;
  const [listener] = listeners;
  const { port = edge.port, protocol } = listener ?? {};
  const at = edge.host.includes(':') ? `[${edge.host}]` : edge.host;
  const name = nameOf(hosts[0]);
  const method = plainMethod(paths);
  // Else curl would ask for several URLs.
  const asIs = /[[\]{}]/.test(path) ? '-g ' : '';
  const verb = `${asIs}${method === 'GET' ? '' : `-X ${method} `}`;
  if (protocol === 'HTTPS')
    return `curl ${verb}--connect-to ::${at}: ${quoted(`https://${name ?? at}:${port}${path}`)}`;
  const header = name === undefined ? '' : `-H ${quoted(`Host: ${name}`)} `;
  return `curl ${verb}${header}${quoted(`http://${at}:${port}${path}`)}`;
}

/** Returns the method of the first path. An expression stands for several. */
export function plainMethod([first]: Route['paths']): string {
  const { method = 'GET' }: Pick<RoutePath, 'method'> = first ?? {};
  return /^[A-Z]+$/.test(method) ? method : 'GET';
}

/** @returns undefined where any host does, or those of an expression */
function nameOf(host = '*'): string | undefined {
  return host === '*' || host.startsWith('~') ? undefined : host.replace(/^\*/, 'www');
}

/** Quotes a text where a shell would read it otherwise. */
function quoted(text: string): string {
  return /^[\w./:%@=+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
