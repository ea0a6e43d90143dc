import type { HostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import type { Server } from '../service-process.ts';
import { startBareEdge } from './bare-edge.ts';
import {
  type GuardedService,
  type StoreKind,
  startConstant,
  startOurs,
  startOursOn,
} from './check-service.ts';
import { type Edge, startEdge } from './edge.ts';
import { logInAll } from './login.ts';
import type { Subject } from './measure.ts';
import { pageOf, type SiteOptions, siteYaml } from './site.ts';

/** A column of a table, before it is measured. */
export type Column = {
  readonly name: string;
  /** The columns of the same table that it is compared to, where there are such. */
  readonly alone: string;
  readonly constant?: string;
  /** Starts what is measured. What it started is stopped with the stack, even if it throws. */
  start(stack: AsyncDisposableStack): Promise<Subject>;
};

/** How many sessions are used in turn, and how many policies there are. */
export type Size = SiteOptions & { readonly sessions: number; readonly policies: number };

/** As long as the cookies of a session. */
const COOKIE = `gateway_session.site.default=${'0'.repeat(64)}; gateway_xsrf.site.default=${'0'.repeat(64)}`;
const UNKNOWN = { page: pageOf(1), cookies: [COOKIE] };

const ALONE = 'Envoy alone';
const BARE = 'bare Envoy alone';

/** An Envoy without checks. */
export function envoyAlone({ issuer }: HostileProvider): Column {
  const start = async (stack: AsyncDisposableStack) => {
    const edge = stopped(stack, await startEdge(siteYaml(issuer, 0), 1));
    return { edge, service: undefined, ...UNKNOWN };
  };
  return { name: ALONE, alone: ALONE, start };
}

/** A service that allows every request. */
export function constantAnswer({ issuer }: HostileProvider, server: Server): Column {
  const start = (stack: AsyncDisposableStack) =>
    startAsking(stack, server, port => startEdge(siteYaml(issuer, 1), port));
  return { name: constantOf(server), alone: ALONE, start };
}

/** An Envoy without any optional setting. */
export function bareEnvoyAlone(): Column {
  const start = async (stack: AsyncDisposableStack) => {
    const edge = stopped(stack, await startBareEdge(undefined));
    return { edge, service: undefined, ...UNKNOWN };
  };
  return { name: BARE, alone: BARE, start };
}

/** The same with a service that allows every request. */
export function bareEnvoyAnswered(server: Server): Column {
  const start = (stack: AsyncDisposableStack) => startAsking(stack, server, startBareEdge);
  return { name: `bare Envoy, ${constantOf(server)}`, alone: BARE, start };
}

/** Our service as `npm start` has it. */
export function ours(provider: HostileProvider, store: StoreKind, size: Size): Column {
  return column(`ours, framed, ${store}`, 'framed', provider, size, yaml => startOurs(store, yaml));
}

/** The same where the proxy repeats decisions for so long. */
export function oursRepeated(
  provider: HostileProvider,
  store: StoreKind,
  size: Size & { readonly decisionCache: string },
): Column {
  const name = `ours, ${store}, decisionCache ${size.decisionCache}`;
  return column(name, 'framed', provider, size, yaml => startOurs(store, yaml));
}

/** Our service with its embedded store, on this HTTP/2 implementation. */
export function oursOn(provider: HostileProvider, server: Server, size: Size): Column {
  return column(`ours, ${server}`, server, provider, size, yaml => startOursOn(server, yaml));
}

function column(
  name: string,
  server: Server,
  provider: HostileProvider,
  size: Size,
  startService: (yaml: string) => Promise<GuardedService>,
): Column {
  const { policies, sessions } = size;
  const yaml = siteYaml(provider.issuer, policies, size);
  const page = pageOf(policies);
  const start = async (stack: AsyncDisposableStack) => {
    const service = await startService(yaml);
    stack.defer(service.stop);
    const edge = stopped(stack, await startEdge(yaml, service.port));
    const cookies = await logInAll(service.records, provider, sessions);
    return { edge, service, page, cookies };
  };
  return { name, alone: ALONE, constant: constantOf(server), start };
}

async function startAsking(
  stack: AsyncDisposableStack,
  server: Server,
  startEdgeFor: (port: number) => Promise<Edge>,
): Promise<Subject> {
  const service = await startConstant(server);
  stack.defer(service.stop);
  return { edge: stopped(stack, await startEdgeFor(service.port)), service, ...UNKNOWN };
}

/** Stops the edge with the stack, before the service that it asks. */
function stopped(stack: AsyncDisposableStack, edge: Edge): Edge {
  stack.defer(edge.envoy.stop);
  return edge;
}

function constantOf(server: Server): string {
  return `constant answer, ${server}`;
}
