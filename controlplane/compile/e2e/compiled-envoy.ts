import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import type { JsonObject } from '#protos/json.ts';
import { LISTENER } from '#protos/type-url.ts';
import { compile } from '../compile.ts';
import type { CompileOptions } from '../options.ts';
import { LONGEST_LIST, withShards } from '../routes/with-shards.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { staticTestBootstrap } from '../testing/static-test-bootstrap.ts';
import type { Echo } from './echo-server.ts';

export type EnvoyAnswer = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
};

export type Ask = {
  readonly method?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
};

/** A running Envoy with what these resources compile to. */
export type CompiledEnvoy = {
  readonly pid: number;
  readonly port: number;
  /** Sends the path exactly as written. */
  ask(path: string, ask?: Ask): Promise<EnvoyAnswer>;
  /** Returns the request that the answering upstream got. */
  echo(path: string, ask?: Ask): Promise<Echo>;
  /** Asks the admin interface. */
  readonly get: EnvoyProcess['get'];
  log(): string;
  stop(): Promise<void>;
};

/**
 * Starts a real Envoy of this node group, with the configuration compiled from the YAML, on a port
 * of its own. `change` is for what the operator's language cannot express. With LONGEST_LIST=1 all
 * lists of routes are cut into shards.
 */
export async function startCompiled(
  yaml: string,
  group = 'edge',
  change: (bootstrap: JsonObject) => JsonObject = bootstrap => bootstrap,
  extAuthz = { host: '127.0.0.1', port: 18001 },
  options: Partial<CompileOptions> = {},
): Promise<CompiledEnvoy> {
  const { resources } = resourceSetOf(yaml);
  const anyPort = { host: '127.0.0.1', port: 0 };
  const lists = compile(resources, group, {
    edge: anyPort,
    sds: { host: '127.0.0.1', port: 18003 },
    rateLimit: { host: '127.0.0.1', port: 18002 },
    extAuthz,
    ...options,
  });
  const compiled = withShards(lists, Number(process.env.LONGEST_LIST ?? LONGEST_LIST));
  const envoy: EnvoyProcess = await startEnvoy(change(staticTestBootstrap(compiled)), [
    '--file-flush-interval-msec',
    '10',
  ]);
  const [listener] = compiled.resources.get(LISTENER) ?? [];
  const port = await envoy.listenerPort(listener?.name ?? 'none');
  const ask: CompiledEnvoy['ask'] = (path, asked = {}) => send(port, path, asked);
  return {
    pid: envoy.pid,
    port,
    ask,
    echo: async (path, asked) => JSON.parse((await ask(path, asked)).body) as Echo,
    get: envoy.get,
    log: envoy.log,
    stop: envoy.stop,
  };
}

function send(
  port: number,
  path: string,
  { method = 'GET', host = 'localhost', headers, body }: Ask,
): Promise<EnvoyAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: { ...headers, host } },
      response => {
        const { statusCode: status = 0, headers } = response;
        text(response).then(body => resolve({ status, headers, body }), reject);
      },
    );
    sent.on('error', reject).end(body);
  });
}
