import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { compile } from '#controlplane/compile/compile.ts';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { shardUnits } from '#controlplane/compile/routes/shard-units.ts';
import { withShards } from '#controlplane/compile/routes/with-shards.ts';
import type { ControllerParts } from '#controlplane/rollout/controller.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { EncodeError } from '#protos/encode-error.ts';
import type { Config } from './config.ts';

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
  const memos = new Map<string, Memo>();
  const units = new Map<string, ReturnType<typeof shardUnits>>();
  const encode = snapshotEncoder(randomBytes(32));
  return (resources, group) => {
    const memo = memos.get(group) ?? new Memo();
    memos.set(group, memo);
    const compiled = compile(resources, group, { ...options, memo });
    made(group, compiled);
    const toUnits = units.get(group) ?? shardUnits();
    units.set(group, toUnits);
    try {
      return { snapshot: encode(toUnits(withShards(compiled))), problems: compiled.problems };
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
      log.error({ group, err: error }, "the compiler made what does not fit Envoy's API");
      return { error: error.message };
    }
  };
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
