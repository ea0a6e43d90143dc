import { Command } from 'commander';
import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { discoveryClusters } from '#controlplane/compile/clusters/discovery-cluster.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { isBehindEdge } from '#controlplane/compile/node-groups.ts';
import { withShards } from '#controlplane/compile/routes/with-shards.ts';
import { staticBootstrap } from '#controlplane/compile/static-bootstrap.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';
import {
  compileOptions,
  EDGE,
  EDGE_TLS,
  EXT_AUTHZ,
  RATELIMIT,
  SDS,
  XDS,
} from './built-in-addresses.ts';
import { checkNodeGroup } from './check-node-group.ts';
import { printConfiguration } from './print-configuration.ts';
import { readResources } from './read-resources.ts';
import { reportProblems } from './report-problems.ts';

type Flags = {
  nodeGroup: string;
  edge: string;
  edgeTls: string;
  sds: string;
  extAuthz: string;
  ratelimit: string;
  hopTls?: boolean;
  json?: boolean;
};

const EXAMPLES = `
Examples:
  gateway compile my-site/resources --node-group edge
`;

/**
 * Returns `gateway compile`. It prints the configuration of a node group's Envoys as one file that
 * `envoy --mode validate` reads.
 */
export function compileCommand(): Command {
  return new Command('compile')
    .description(
      'print the Envoy configuration that these resources give a node group, and problems to stderr',
    )
    .argument('<files...>', 'YAML files, or folders of them')
    .requiredOption('--node-group <group>', 'the node group, for example edge')
    .option(
      '--edge <host:port>',
      'where the edge listens when no Listener or ProxyConfig says so',
      EDGE,
    )
    .option(
      '--edge-tls <host:port>',
      'where the edge listens for TLS, when a Host has it',
      EDGE_TLS,
    )
    .option('--sds <host:port>', 'where the discovery service is', SDS)
    .option('--ext-authz <host:port>', 'where the built-in Filter service is', EXT_AUTHZ)
    .option('--ratelimit <host:port>', 'where the built-in rate limit service is', RATELIMIT)
    .option('--hop-tls', 'with mutual TLS between proxies, as `gateway up` has it')
    .option('--json', 'print JSON instead of YAML')
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], flags: Flags) => {
      const read = readResources(paths);
      const resources = toResourceSet(read.resources.values(), read.rejected.values());
      checkNodeGroup(flags.nodeGroup, nodeGroups(resources));
      const { configuration, problems } = configurationOf(resources, flags);
      reportProblems([...read.problems, ...problems]);
      printConfiguration(configuration, flags.json);
    });
}

function configurationOf(
  resources: ResourceSet,
  { nodeGroup, edge, edgeTls, sds, extAuthz, ratelimit, hopTls = false }: Flags,
) {
  const options = compileOptions({ edge, edgeTls, sds, extAuthz, ratelimit });
  const compiled = compile(resources, nodeGroup, { ...options, hopTls });
  const proxy = bootstrap({
    nodeId: `${nodeGroup}-1`,
    group: nodeGroup,
    isBehindEdge: isBehindEdge(nodeGroup),
    xdsAddress: XDS,
    sdsAddress: sds,
    discoveryClusters: discoveryClusters(resources, nodeGroup, options.sds),
  });
  return {
    configuration: staticBootstrap(proxy, withShards(compiled)),
    problems: compiled.problems,
  };
}
