import { Agent, request } from 'node:http';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { withShards } from '#controlplane/compile/routes/with-shards.ts';
import { staticTestBootstrap } from '#controlplane/compile/testing/static-test-bootstrap.ts';
import { startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { until } from '#envoy/e2e/until.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { ClientRequest } from '../client-request.ts';
import { virtualHostsOf } from '../route-configuration.ts';

/**
 * The choice of a real Envoy: the route as `<index of its virtual host>/<its index>`, and the path
 * and headers that it saw.
 */
export type Chosen = {
  readonly status: number;
  readonly route: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
};

/** A real Envoy with a listener for each case. Each route answers with its own name. */
export type RoutingEnvoy = {
  ask(name: string, request: ClientRequest): Promise<Chosen>;
  stop(): Promise<void>;
};

/**
 * Starts the Envoy. `shown` has Envoy's format strings by the names of the response headers for
 * their values. Lists of routes longer than `longest` are cut into shards.
 */
export async function startRoutingEnvoy(
  cases: ReadonlyMap<string, Compiled>,
  shown: Readonly<Record<string, string>> = {},
  longest = Number.POSITIVE_INFINITY,
): Promise<RoutingEnvoy> {
  const listeners = [...cases].map(([name, compiled]) =>
    tellingListener(name, withShards(telling(compiled, shown), longest)),
  );
  const { static_resources, ...bootstrap } = staticTestBootstrap({
    resources: new Map(),
    problems: [],
  });
  const { clusters = [] } = isJsonObject(static_resources) ? static_resources : {};
  const envoy = await startEnvoy({ ...bootstrap, static_resources: { clusters, listeners } });
  // Envoy is live when every listener is there. A listener that waits for a missing certificate is
  // late.
  await until(async () => (await envoy.get('/ready')).startsWith('LIVE') || undefined);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const ports = new Map<string, number>();
  for (const name of cases.keys()) ports.set(name, await envoy.listenerPort(name));
  return {
    ask: (name, asked) => send(agent, ports.get(name) ?? 0, asked),
    stop: async () => {
      agent.destroy();
      await envoy.stop();
    },
  };
}

function tellingListener(name: string, { resources }: Compiled): JsonObject {
  const [listener] = resources.get(LISTENER) ?? [];
  if (listener === undefined) throw new Error(`${name} has no listener`);
  const { '@type': _, ...json } = listener.json;
  const [routes] = resources.get(ROUTE_CONFIGURATION) ?? [];
  const told = replaced(json, {
    rds: ['route_config', routes?.json ?? {}],
    http_filters: ['http_filters', ROUTER],
    // Its collector has no cluster here, and it chooses no route.
    tracing: ['tracing', null],
  });
  return { ...told, name, address: { socket_address: { address: '127.0.0.1', port_value: 0 } } };
}

const ROUTER: Json = [
  {
    name: 'envoy.filters.http.router',
    typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
  },
];

/** Returns the same, with answers for routes in the first table. */
function telling(compiled: Compiled, shown: Readonly<Record<string, string>>): Compiled {
  const { problems, resources } = compiled;
  const [table] = resources.get(ROUTE_CONFIGURATION) ?? [];
  if (table === undefined) return compiled;
  const { ignore_port_in_host_matching = false, request_headers_to_remove = [] } = table.json;
  const virtual_hosts = tellingHosts(compiled, shown);
  const json = { ignore_port_in_host_matching, request_headers_to_remove, virtual_hosts };
  return {
    problems,
    resources: new Map([...resources, [ROUTE_CONFIGURATION, [{ ...table, json }]]]),
  };
}

function tellingHosts(
  compiled: Compiled,
  shown: Readonly<Record<string, string>>,
): readonly JsonObject[] {
  return virtualHostsOf(compiled).map(({ name, domains, routes }, host) => ({
    name,
    domains,
    routes: routes.map(({ match }, route) => ({
      match,
      direct_response: { status: 200 },
      response_headers_to_add: Object.entries({ ...shown, 'x-route': `${host}/${route}` }).map(
        ([key, value]) => ({ header: { key, value }, keep_empty_value: true }),
      ),
    })),
  }));
}

function replaced(
  json: JsonObject,
  fields: Readonly<Record<string, readonly [string, Json]>>,
): JsonObject {
  const inside = (value: Json | undefined): Json | undefined => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(item => inside(item) ?? null);
    return isJsonObject(value) ? replaced(value, fields) : value;
  };
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => fields[key] ?? ([key, inside(value)] as const)),
  );
}

function send(
  agent: Agent,
  port: number,
  { method, target, authority, headers }: ClientRequest,
): Promise<Chosen> {
  const fields = ['Host', authority, ...headers.flatMap(({ name, value }) => [name, value])];
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, method, path: target, headers: fields });
    sent.once('error', reject);
    sent.once('response', response => {
      const { statusCode: status = 0, headers } = response;
      response
        .resume()
        .once('end', () => resolve({ status, route: String(headers['x-route'] ?? ''), headers }));
    });
    sent.end();
  });
}
