import { Command, InvalidArgumentError } from 'commander';
import { parseInstanceCount } from '#launcher/instance-count.ts';
import { up } from '#launcher/up.ts';
import { hasYaml } from './has-yaml.ts';
import { instancesFile } from './instances-file.ts';
import { parsePortOffset } from './port-offset.ts';
import { stateOption } from './state-option.ts';

type Flags = {
  instances?: number;
  resources?: string;
  services?: string;
  state: string;
  portOffset: number;
};

const EXAMPLES = `
Examples:
  gateway up
  gateway up --resources my-site/resources --services my-site/services.yaml
  gateway up --port-offset 1000
`;

/** Returns `gateway up`. It runs the whole gateway until Ctrl-C. */
export function upCommand(): Command {
  return new Command('up')
    .description(
      'run the gateway: control plane, discovery, instances with their Envoys, and the edge Envoy',
    )
    .option(
      '--instances <number>',
      'instances of the sample service (default: 2 for the demo, 0 for your own resources)',
      parseCount,
    )
    .option(
      '--resources <folder>',
      'your own YAML resources (default: the folder resources, if it has YAML files, else the demo)',
    )
    .option(
      '--services <file>',
      'where the instances of your own services are (see docs/reference/instances-file.md)',
    )
    .addOption(stateOption('where state and logs are kept'))
    .option('--port-offset <number>', 'added to every port', parsePortOffset, 0)
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => {
      // The reader of our lines may go away, or the disk behind them may be full. The gateway goes
      // on.
      process.stdout.removeAllListeners('error').on('error', () => {});
      const { resources = ownResources(), services, ...rest } = flags;
      const edgeDiscovery = async (sds: string) => {
        if (resources === undefined) return [];
        const { readResources } = await import('./read-resources.ts');
        const { declaredDiscovery } = await import('./declared-discovery.ts');
        return declaredDiscovery(readResources([resources]), 'edge', sds);
      };
      const { checkVariables } = await import('./service-configs.ts');
      await up({
        ...rest,
        checkVariables,
        ...(resources === undefined ? {} : { resources }),
        ...(services === undefined ? {} : { services: instancesFile(services, rest.state) }),
        edgeDiscovery,
        now: () => performance.now(),
        say,
      });
      // An installation of Envoy may go on when the start was stopped.
      process.exit();
    });
}

/** Returns the folder that `gateway init` makes, if it is here and has resources. */
function ownResources(): string | undefined {
  return hasYaml('resources') ? 'resources' : undefined;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function parseCount(text: string): number {
  try {
    return parseInstanceCount(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
