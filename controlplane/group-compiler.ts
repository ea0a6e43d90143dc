import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { compile } from '#controlplane/compile/compile.ts';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { shardUnits } from '#controlplane/compile/routes/shard-units.ts';
import { sharder } from '#controlplane/compile/routes/with-shards.ts';
import type { ControllerParts, GroupConfiguration } from '#controlplane/rollout/controller.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { EncodeError } from '#protos/encode-error.ts';
import { reusing, type Snapshot } from '#xds/snapshot.ts';
import type { Config } from './config.ts';

/** What is kept of a group's last configuration. */
type Kept = {
  readonly memo: Memo;
  readonly toShards: ReturnType<typeof sharder>;
  readonly toUnits: ReturnType<typeof shardUnits>;
  snapshot: Snapshot | undefined;
};

/**
 * Compiles and encodes a group's configuration, and reuses what stays the same. A failure to encode
 * is the compiler's mistake. It is logged, and the resource that shows it gets the Problem. `made`
 * is called with each configuration, before its long lists of routes are cut for the proxies.
 */
export function groupCompiler(
  options: CompileOptions,
  log: Logger,
  made: (group: string, compiled: Compiled) => void = () => {},
): ControllerParts['compile'] {
  const groups = new Map<string, Kept>();
  const results = new WeakMap<Compiled, GroupConfiguration>();
  const encode = snapshotEncoder(randomBytes(32));
  return (resources, group) => {
    const kept = groups.get(group) ?? nothingKept();
    groups.set(group, kept);
    const compiled = compile(resources, group, { ...options, memo: kept.memo });
    made(group, compiled);
    const known = results.get(compiled);
    if (known !== undefined) return known;
    try {
      const encoded = encode(kept.toUnits(kept.toShards(compiled)));
      const snapshot = reusing(kept.snapshot, encoded);
      kept.snapshot = snapshot;
      const result = { snapshot, problems: compiled.problems };
      results.set(compiled, result);
      return result;
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
      log.error({ group, err: error }, "the compiler made what does not fit Envoy's API");
      return { error: error.message };
    }
  };
}

function nothingKept(): Kept {
  return { memo: new Memo(), toShards: sharder(), toUnits: shardUnits(), snapshot: undefined };
}

/** Returns what the compiler needs beside resources. */
export function compileOptions(config: Config): CompileOptions {
  const { edge, edgeTls, httpsPort, sds, extAuthz, rateLimit, caFile, hopTls, trustDomain } =
    config;
  const serviceTls = config.tlsFolder !== undefined;
  return {
    edge,
    edgeTls,
    ...(httpsPort === undefined ? {} : { httpsPort }),
    sds,
    extAuthz,
    rateLimit,
    caFile,
    hopTls,
    serviceTls,
    figures: config.figures,
    trustDomain,
    gateways: config.gateways,
  };
}
