import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { toResourceSet } from '#resources/resource-set.ts';

const ADDRESS = { host: '127.0.0.1', port: 8080 };
const EDGE_TLS = { host: '127.0.0.1', port: 8443 };
const OPTIONS = {
  edge: ADDRESS,
  edgeTls: EDGE_TLS,
  sds: ADDRESS,
  rateLimit: ADDRESS,
  extAuthz: ADDRESS,
};

/** Returns what is wrong with the resources in this text, alone and between them. */
export function resourceProblems(name: string, text: string): readonly Problem[] {
  const { problems, resources } = parseFile(name, text, DEFAULT_PARSE_OPTIONS);
  const set = toResourceSet(resources, []);
  return [...problems, ...nodeGroups(set).flatMap(group => compile(set, group, OPTIONS).problems)];
}
