import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { nodeGroups } from '../all-node-groups.ts';
import { compile } from '../compile.ts';
import type { Compiled } from '../compiled.ts';
import { EXT_AUTHZ, RATELIMIT_SERVICE, SDS } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';
import { resourceSetOf } from './resource-set-of.ts';

/** The folder of the cases. `<case>.in.yaml` is what the operator writes. */
export const GOLDEN = join(import.meta.dirname, '..', 'testdata');

/** What one node group, or one of our services, gets of a case. */
export type GoldenCase = {
  /** `<case>.<node group>` */
  readonly name: string;
  readonly group: string;
  readonly resources: ResourceSet;
  readonly compiled: Compiled;
  /** Those of the parser too. */
  readonly problems: readonly Problem[];
};

export const GOLDEN_OPTIONS: CompileOptions = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 18003 },
  rateLimit: { host: '127.0.0.1', port: 18002 },
  extAuthz: { host: '127.0.0.1', port: 18001 },
};

/**
 * Cases whose name begins with `hop-tls` are as in a cluster, where services are on other machines.
 */
const HOP_TLS: CompileOptions = {
  ...GOLDEN_OPTIONS,
  rateLimit: { host: 'ratelimit-service', port: 18002 },
  extAuthz: { host: 'ext-authz', port: 18001 },
  hopTls: true,
  serviceTls: true,
};

/** Returns all that the cases in the folder compile to. */
export function goldenCases(): readonly GoldenCase[] {
  return readdirSync(GOLDEN)
    .filter(name => name.endsWith('.in.yaml'))
    .flatMap(casesOf);
}

function casesOf(file: string): readonly GoldenCase[] {
  const { resources, problems } = resourceSetOf(readFileSync(join(GOLDEN, file), 'utf8'), file);
  const asked = [
    ...(resources.filters.length > 0 ? [EXT_AUTHZ] : []),
    ...(resources.rateLimits.length > 0 ? [RATELIMIT_SERVICE] : []),
    ...(resources.hosts.length + resources.tlsContexts.length > 0 ? [SDS] : []),
  ];
  return [...nodeGroups(resources), ...asked].map(group => {
    const compiled = compile(
      resources,
      group,
      file.startsWith('hop-tls') ? HOP_TLS : GOLDEN_OPTIONS,
    );
    const name = `${file.slice(0, -'.in.yaml'.length)}.${group}`;
    return { name, group, resources, compiled, problems: [...problems, ...compiled.problems] };
  });
}
