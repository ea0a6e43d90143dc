import { Command } from 'commander';
import { bootstrap } from '#envoy/bootstrap.ts';
import { parseNodeGroup } from '#resources/node-group.ts';
import { SDS, XDS } from './built-in-addresses.ts';
import { printConfiguration } from './envoy-yaml.ts';
import { ownDiscovery } from './own-discovery.ts';
import { reportProblems } from './report-problems.ts';

type Flags = { id?: string; xds: string; sds: string; admin?: string; resources?: string; json?: boolean };

/** `gateway bootstrap`: the file that an Envoy of a node group starts with. */
export function bootstrapCommand(): Command {
  return new Command('bootstrap')
    .description('print the bootstrap of an Envoy: with it, it gets everything else from the control plane')
    .argument('<node group>', 'the node group, for example edge')
    .option('--id <id>', 'node id of this one proxy (default: <node group>-1)')
    .option('--xds <host:port>', 'where the control plane serves xDS', XDS)
    .option('--sds <host:port>', 'where the discovery service is', SDS)
    .option('--admin <host:port>', 'admin interface, also unix:/path (default: none)')
    .option('--resources <path>', 'resources whose ProxyConfigs name discovery services of their own')
    .option('--json', 'print JSON instead of YAML')
    .action((group: string, flags: Flags) => {
      checkNodeGroup(group);
      const options = {
        nodeId: flags.id ?? `${group}-1`,
        group,
        xdsAddress: flags.xds,
        sdsAddress: flags.sds,
        ...(flags.admin === undefined ? {} : { adminAddress: flags.admin }),
        discoveryClusters: discovery(group, flags),
      };
      printConfiguration(bootstrap(options), flags.json);
    });
}

function checkNodeGroup(group: string): void {
  const parsed = parseNodeGroup(group);
  if ('error' in parsed) throw new Error(parsed.error);
}

function discovery(group: string, { resources, sds }: Flags) {
  if (resources === undefined) return [];
  const { clusters, problems } = ownDiscovery(resources, group, sds);
  reportProblems(problems);
  return clusters;
}
