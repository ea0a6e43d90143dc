import pino, { type Logger } from 'pino';
import { compile } from '#controlplane/compile/compile.ts';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import type { FilterKit } from '#ext-authz/filters/filter-kit.ts';
import { FILTER_TYPES } from '#ext-authz/filters/filter-set.ts';
import { after } from '#process/after.ts';
import type { JsonObject } from '#protos/json.ts';
import { type Server, startServer } from '../server.ts';

export type GuardedEnvoy = CompiledEnvoy & { readonly service: Server };

/**
 * A real Envoy and the service that runs filters, with what the YAML compiles to for both. `log`
 * hears of checks. `change` is for what the operator's language cannot say.
 */
export async function startGuarded(
  yaml: string,
  kit: FilterKit,
  log: Logger = pino({ level: 'silent' }),
  change: (bootstrap: JsonObject) => JsonObject = bootstrap => bootstrap,
  options: Partial<CompileOptions> = {},
): Promise<GuardedEnvoy> {
  const service = await startServer({
    host: '127.0.0.1',
    port: 0,
    kit,
    log,
    uptime: () => performance.now(),
    after,
  });
  give(service, yaml);
  const address = { host: '127.0.0.1', port: service.port };
  const envoy = await startCompiled(yaml, 'edge', change, address, options);
  const stop = async () => {
    await envoy.stop();
    await service.stop(0);
  };
  return { ...envoy, service, stop };
}

/** Gives the service what the control plane would send it. */
export function give(service: Server, yaml: string): void {
  const address = { host: '127.0.0.1', port: 1 };
  const options = { edge: address, sds: address, rateLimit: address, extAuthz: address };
  const snapshot = snapshotEncoder(Buffer.alloc(32))(
    compile(resourceSetOf(yaml).resources, EXT_AUTHZ, options),
  );
  for (const typeUrl of FILTER_TYPES) {
    service.update({
      typeUrl,
      changed: [...(snapshot.get(typeUrl)?.values() ?? [])],
      removed: [],
      complete: true,
      ack: () => {},
      nack: message => {
        throw new Error(message);
      },
    });
  }
}
