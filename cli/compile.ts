import { Command } from 'commander';
import { compile } from '#controlplane/compile/compile.ts';
import { discoveryClusters } from '#controlplane/compile/discovery-cluster.ts';
import { nodeGroups } from '#controlplane/compile/node-groups.ts';
import { staticBootstrap } from '#controlplane/compile/testing/static-bootstrap.ts';
import { describeProblem } from '#controlplane/problems.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { EDGE, parseAddress, SDS } from './built-in-addresses.ts';
import { printConfiguration } from './envoy-yaml.ts';
import { readResources } from './read-resources.ts';

type Flags = { nodeGroup: string; edge: string; sds: string; json?: boolean };

/** `gateway compile`: what the Envoys of a node group would get, as one configuration that `envoy --mode validate` reads. */
export function compileCommand(): Command {
  return new Command('compile')
    .description(
      'print the Envoy configuration that these resources give a node group; problems go to stderr',
    )
    .argument('<files...>', 'YAML files, or folders of them')
    .requiredOption('--node-group <group>', 'the node group, for example edge')
    .option('--edge <host:port>', 'where the edge listens when no ProxyConfig says so', EDGE)
    .option('--sds <host:port>', 'where the discovery service is', SDS)
    .option('--json', 'print JSON instead of YAML')
    .action((paths: string[], { nodeGroup, edge, sds, json }: Flags) => {
      const read = readResources(paths);
      const resources = toResourceSet(read.resources.values(), read.refused.values());
      const options = { edge: parseAddress('--edge', edge), sds: parseAddress('--sds', sds) };
      const groups = nodeGroups(resources);
      if (!groups.includes(nodeGroup)) {
        throw new Error(`no resource is for node group "${nodeGroup}"; there is ${groups.join(', ')}`);
      }
      const compiled = compile(resources, nodeGroup, options);
      const problems = [...read.problems, ...compiled.problems];
      for (const problem of problems) process.stderr.write(`${describeProblem(problem)}\n`);
      printConfiguration(
        staticBootstrap(compiled, discoveryClusters(resources, nodeGroup, options.sds)),
        json,
      );
      process.exitCode = problems.some(({ severity }) => severity === 'error') ? 1 : 0;
    });
}
