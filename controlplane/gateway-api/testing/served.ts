import { Memo } from '#controlplane/compile/memo.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';
import { DEFAULT_CONTROLLER, type GatewayOptions } from '../gateway-options.ts';
import type { GatewayApi } from '../served-gateway.ts';
import { servedGateways } from '../served-gateways.ts';

export const OPTIONS: GatewayOptions = {
  controller: DEFAULT_CONTROLLER,
  sharedEdge: false,
  apiGroups: DEFAULT_PARSE_OPTIONS.apiGroups,
};

/** Parses documents as those of a cluster whose Services are all known. */
export function clusterOf(text: string, knowsServices = true): ResourceSet {
  const { resources, rejected, problems } = collect([
    parseFile('in.yaml', text, DEFAULT_PARSE_OPTIONS),
  ]);
  if (problems.length > 0) throw new Error(JSON.stringify(problems, null, 2));
  return { ...toResourceSet(resources.values(), rejected.values()), knowsServices };
}

/** Returns what documents of a cluster come to. */
export function served(text: string, options: Partial<GatewayOptions> = {}): GatewayApi {
  return servedGateways(clusterOf(text), { ...OPTIONS, ...options }, new Memo());
}
