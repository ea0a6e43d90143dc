import { Command, InvalidArgumentError, Option } from 'commander';
import { parseInstanceCount } from '#launcher/instance-count.ts';
import { DEFAULT_STATE } from '#launcher/state-folder.ts';
import { up } from '#launcher/up.ts';
import { instancesFile } from './instances-file.ts';
import { parsePortOffset } from './port-offset.ts';

type Flags = {
  instances: number;
  resources?: string;
  services?: string;
  state: string;
  portOffset: number;
};

/** Returns `gateway up`. It runs the whole gateway until Ctrl-C. */
export function upCommand(): Command {
  return new Command('up')
    .description(
      'run the gateway: control plane, discovery, instances with their Envoys, and the edge Envoy',
    )
    .option('--instances <number>', 'instances of the sample service, 0 for none', parseCount, 2)
    .option('--resources <folder>', 'your own YAML resources (default: envoy/resources, the demo)')
    .option(
      '--services <file>',
      'where the instances of your own services are (see docs/reference/instances-file.md)',
    )
    .addOption(
      new Option('--state <folder>', 'where state and logs are kept').default(
        DEFAULT_STATE,
        '.gateway',
      ),
    )
    .option('--port-offset <number>', 'added to every port', parsePortOffset, 0)
    .action(async (flags: Flags) => {
      // The reader of our lines may go away, or the disk behind them may be full. The gateway goes
      // on.
      process.stdout.removeAllListeners('error').on('error', () => {});
      const { resources, services, ...rest } = flags;
      const edgeDiscovery = async (sds: string) => {
        if (resources === undefined) return [];
        const { readResources } = await import('./read-resources.ts');
        const { declaredDiscovery } = await import('./declared-discovery.ts');
        return declaredDiscovery(readResources([resources]), 'edge', sds);
      };
      await up({
        ...rest,
        ...(resources === undefined ? {} : { resources }),
        ...(services === undefined ? {} : { services: instancesFile(services) }),
        edgeDiscovery,
        now: () => performance.now(),
        say,
      });
    });
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
