import { join } from 'node:path';
import { IN_CHECKOUT } from '#files/places.ts';
import { shellQuote } from '#files/shell-quote.ts';
import { type Layout, loopback } from './parts.ts';
import { curlLine, type RouteToTry } from './routes-to-try.ts';

export type AnnouncementOptions = {
  /** Routes to try. Default: those of the demo. */
  readonly routes?: readonly RouteToTry[];
  /** Instances of the sample service. */
  readonly instances: number;
  /** Where the edge listens. Default: its default address. */
  readonly edge?: string;
  /** How long the start took, in ms. */
  readonly ms: number;
};

/** Returns what the operator reads when the gateway serves: the addresses, and lines to try. */
export function announcement(
  layout: Layout,
  { instances, ms, routes, edge = loopback(layout.ports.edge) }: AnnouncementOptions,
): string {
  const { environment, ports, state } = layout;
  return [
    `ready after ${(ms / 1000).toFixed(1)} s`,
    '',
    `  edge            http://${edge}`,
    ...(layout.demo ? [`  edge by https   ${httpsOf(layout)}`] : []),
    ...(environment.CONSOLE?.trim() === 'off'
      ? []
      : [`  console         http://${loopback(ports.http)}/console/`]),
    `  control plane   http://${loopback(ports.http)}/status  (xDS ${loopback(ports.xds)})`,
    `  discovery       http://${loopback(ports.sds)}/status`,
    `  rate limits     http://${loopback(ports.rateLimit)}/metrics`,
    `  authorization   http://${loopback(ports.extAuthz)}/metrics`,
    ...(layout.provider ? [`  login           http://${loopback(ports.identityProvider)}`] : []),
    `  edge admin      http://${loopback(ports.edgeAdmin)}`,
    `  edge metrics    http://${loopback(ports.edgeStats)}/stats/prometheus`,
    `  resources       ${layout.resources}`,
    `  logs            ${state.logs}`,
    '',
    ...(layout.demo && !layout.provider ? [NO_LOGIN, ''] : []),
    ...(routes?.length === 0 ? [noRoute(layout)] : ['Try:']),
    ...(routes?.map(route => `  ${curlLine(edge, route)}`) ??
      (instances === 0 ? NO_INSTANCE : demoLines(layout))),
    '',
  ].join('\n');
}

const NO_LOGIN =
  'The demo has no login, which needs one more package: npx -p tollwright -p oidc-provider tollwright up';

/** The folder may be the wrong one. */
function noRoute({ portOffset }: Layout): string {
  const offset = portOffset === 0 ? '' : ` --port-offset ${portOffset}`;
  return `No route leads to a service by its path alone. See what is read: npx tollwright status${offset}`;
}

const NO_INSTANCE = ['  npx tollwright scale 2    to start instances of the sample service'];

/** The origin in the certificate of the demo's Host. */
function httpsOf({ ports }: Layout): string {
  return `https://localhost:${ports.edgeTls}`;
}

function demoLines(layout: Layout): readonly string[] {
  const edge = loopback(layout.ports.edge);
  const roots = join(layout.state.path, 'authority', 'roots.pem');
  const user = `http://${edge}/user/ada`;
  const body = '{"fullname": "Ada Lovelace", "password": "difference"}';
  return [
    `  curl http://${edge}/user/health`,
    `  curl -X PUT -H 'Content-Type: application/json' -d '${body}' ${user}`,
    `  curl ${user}`,
    `  curl --cacert ${shellQuote(roots)} ${httpsOf(layout)}/user/health`,
    ...(layout.provider
      ? [`  http://${edge}/account in a browser, as ada with the password difference`]
      : []),
    ...(IN_CHECKOUT ? [] : ['  npx tollwright init    to write a first resource of your own']),
  ];
}
