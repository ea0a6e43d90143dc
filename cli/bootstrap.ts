import { Command } from 'commander';
import { DEFAULT_TRUST_DOMAIN, parseSpiffeId, spiffeId } from '#certificates/identity.ts';
import { isBehindEdge } from '#controlplane/compile/node-groups.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { identitySecret } from '#envoy/identity-tls.ts';
import { parseNodeGroup } from '#resources/words/node-group.ts';
import { SDS, XDS } from './built-in-addresses.ts';
import { declaredDiscovery } from './declared-discovery.ts';
import { printConfiguration } from './print-configuration.ts';
import { readResources } from './read-resources.ts';
import { reportProblems } from './report-problems.ts';

type Flags = {
  id?: string;
  xds: string;
  sds: string;
  admin?: string;
  stats?: string;
  tlsFolder?: string;
  tlsSecrets?: string;
  trustDomain?: string;
  print?: string;
  resources?: string;
  figures: boolean;
  json?: boolean;
};

/** The folder with the bootstrap in the examples of deploy/. */
const SECRETS = '/etc/gateway';

const EXAMPLES = `
Examples:
  gateway bootstrap edge --admin 127.0.0.1:9901 --stats 0.0.0.0:9902 > edge.bootstrap.yaml
`;

/** Returns `gateway bootstrap`. It prints the file that an Envoy of a node group starts with. */
export function bootstrapCommand(): Command {
  return new Command('bootstrap')
    .description(
      'print the bootstrap of an Envoy, which gets everything else from the control plane',
    )
    .argument('<node group>', 'the node group, for example edge')
    .option('--id <id>', 'node id of this one proxy (default: <node group>-1)')
    .option('--xds <host:port>', 'where the control plane serves xDS', XDS)
    .option('--sds <host:port>', 'where the discovery service is', SDS)
    .option('--admin <host:port>', 'admin interface, also unix:/path (default: none)')
    .option(
      '--stats <address:port>',
      'where /stats/prometheus and /ready are answered and nothing else, with --admin (default: none)',
    )
    .option(
      '--tls-folder <path>',
      'folder with the identity (tls.crt, tls.key, ca.crt) for mutual TLS to control plane and discovery service',
    )
    .option(
      '--tls-secrets <path>',
      'folder with identity.yaml and roots.yaml, which --print gives (default: /etc/gateway)',
    )
    .option(
      '--trust-domain <name>',
      `trust domain of those identities (default: ${DEFAULT_TRUST_DOMAIN})`,
    )
    .option('--print <file>', 'print identity.yaml or roots.yaml instead, with --tls-folder')
    .option(
      '--resources <path>',
      'resources whose ProxyConfigs name discovery services of their own',
    )
    .option('--no-figures', 'push no statistics to the control plane (when its FIGURES is off)')
    .option('--json', 'print JSON instead of YAML')
    .addHelpText('after', EXAMPLES)
    .action((group: string, flags: Flags) => {
      checkNodeGroup(group);
      if (flags.print !== undefined) return printConfiguration(secretFile(flags), flags.json);
      const options = {
        nodeId: flags.id ?? `${group}-1`,
        group,
        isBehindEdge: isBehindEdge(group),
        xdsAddress: flags.xds,
        sdsAddress: flags.sds,
        ...(flags.admin === undefined ? {} : { adminAddress: flags.admin }),
        ...(flags.stats === undefined ? {} : { statsAddress: flags.stats }),
        ...identity(flags),
        figures: flags.figures,
        discoveryClusters: discovery(group, flags),
      };
      printConfiguration(bootstrap(options), flags.json);
    });
}

function identity({ tlsFolder, tlsSecrets, trustDomain }: Flags) {
  if (tlsFolder === undefined && (tlsSecrets ?? trustDomain) !== undefined)
    throw new Error(
      '--tls-secrets and --trust-domain want --tls-folder: the folder with the identity',
    );
  if (tlsFolder === undefined) return {};
  const secretsFolder = tlsSecrets ?? SECRETS;
  return { identity: { tlsFolder, secretsFolder, trustDomain: checkTrustDomain(trustDomain) } };
}

function checkTrustDomain(trustDomain = DEFAULT_TRUST_DOMAIN): string {
  if (parseSpiffeId(spiffeId({ trustDomain, group: 'a' })) !== undefined) return trustDomain;
  throw new Error(
    `--trust-domain is "${trustDomain}": want small letters, digits, ".", "-" and "_", for example ${DEFAULT_TRUST_DOMAIN}`,
  );
}

function secretFile({ print, tlsFolder }: Flags) {
  if (tlsFolder === undefined)
    throw new Error('--print wants --tls-folder: the folder that the file names');
  const [name] = /^(identity|roots)(?=\.yaml$)/.exec(print ?? '') ?? [];
  if (name !== 'identity' && name !== 'roots')
    throw new Error(`--print is "${print}": want identity.yaml or roots.yaml`);
  return identitySecret(name, tlsFolder);
}

function checkNodeGroup(group: string): void {
  const parsed = parseNodeGroup(group);
  if ('error' in parsed) throw new Error(parsed.error);
}

function discovery(group: string, { resources, sds }: Flags) {
  if (resources === undefined) return [];
  const read = readResources([resources]);
  const clusters = declaredDiscovery(read, group, sds);
  reportProblems(read.problems);
  return clusters;
}
