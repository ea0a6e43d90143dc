import { compile } from '#controlplane/compile/compile.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { staticTestBootstrap } from '#controlplane/compile/testing/static-test-bootstrap.ts';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { LISTENER } from '#protos/type-url.ts';

export type Edge = { readonly envoy: EnvoyProcess; readonly port: number };

/**
 * Starts an Envoy with one worker and what these resources compile to for the edge. It differs in
 * that it answers the Mappings' requests itself with 200 and writes no access log. Checks go to the
 * service at `extAuthz`.
 */
export async function startEdge(
  yaml: string,
  extAuthz: number,
  change: (bootstrap: JsonObject) => JsonObject = bootstrap => bootstrap,
): Promise<Edge> {
  const at = (port: number) => ({ host: '127.0.0.1', port });
  const options = { edge: at(0), sds: at(1), rateLimit: at(1), extAuthz: at(extAuthz) };
  const compiled = compile(resourceSetOf(yaml).resources, 'edge', options);
  const { dynamic_resources: _, ...bootstrap } = staticTestBootstrap(compiled);
  const envoy = await startEnvoy(change(answeringItself(bootstrap)));
  const [listener] = compiled.resources.get(LISTENER) ?? [];
  return { envoy, port: await envoy.listenerPort(listener?.name ?? 'none') };
}

function answeringItself(json: JsonObject): JsonObject {
  const fields = Object.entries(json).flatMap(([name, value]): [string, Json | undefined][] => {
    if (name === 'access_log') return [];
    if (name === 'route') return [['direct_response', { status: 200 }]];
    return [[name, value === undefined ? undefined : withinOf(value)]];
  });
  return Object.fromEntries(fields);
}

function withinOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(withinOf);
  return isJsonObject(value) ? answeringItself(value) : value;
}

/**
 * Returns the requests that the service allowed, or allowed before and Envoy repeats, and others,
 * since Envoy began.
 */
export async function checksOf({
  envoy,
}: Edge): Promise<{ readonly ok: number; readonly others: number }> {
  const stats = await envoy.get(
    '/stats?filter=ext_authz%5C.(ok|disabled|denied|error|failure_mode_allowed|invalid)$',
  );
  const counts = [...stats.matchAll(/ext_authz\.(\w+): (\d+)/g)].map(
    ([, name, count]) => [name, Number(count)] as const,
  );
  const sum = (wanted: boolean) =>
    counts
      .filter(([name = '']) => ALLOWED.includes(name) === wanted)
      .reduce((total, [, count]) => total + count, 0);
  return { ok: sum(true), others: sum(false) };
}

const ALLOWED: readonly string[] = ['ok', 'disabled'];
