import { compile } from '#controlplane/compile/compile.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import type { Snapshot } from '#xds/snapshot.ts';

export type Timing = { readonly parse: number; readonly compile: number; readonly encode: number };

export type Run = { readonly timing: Timing; readonly snapshot: Snapshot };

/**
 * Returns what makes a snapshot of text, as the control plane does in one process. Results of
 * earlier runs are cached. Times are in ms.
 */
export function pipeline(): (text: string) => Run {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const memo = new Memo();
  const encode = snapshotEncoder(Buffer.alloc(32));
  const address = { host: '127.0.0.1', port: 0 };
  return text => {
    const begun = performance.now();
    const { problems, resources } = collect(parse(new Map([['mappings.yaml', { text }]])));
    if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
    const parsed = performance.now();
    const set = toResourceSet(resources.values(), []);
    const compiled = compile(set, 'edge', {
      edge: address,
      sds: address,
      rateLimit: address,
      extAuthz: address,
      memo,
    });
    const compiledAt = performance.now();
    const snapshot = encode(compiled);
    const encoded = performance.now();
    const timing = {
      parse: parsed - begun,
      compile: compiledAt - parsed,
      encode: encoded - compiledAt,
    };
    return { timing, snapshot };
  };
}
