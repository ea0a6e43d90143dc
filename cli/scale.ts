import { Command, Option } from 'commander';
import { STATE_FOLDER } from '#files/places.ts';
import { parseInstanceCount } from '#launcher/instance-count.ts';
import { requestScale } from '#launcher/request-scale.ts';

/**
 * Returns `gateway scale <number>`. It changes the number of instances of a running gateway, and
 * ends when the gateway has them.
 */
export function scaleCommand(): Command {
  return new Command('scale')
    .description('change how many instances of the user service a running gateway has')
    .argument('<number>', 'how many')
    .addOption(
      new Option('--state <folder>', "the running gateway's state folder").default(
        STATE_FOLDER,
        '.gateway',
      ),
    )
    .option('--json', 'print one JSON object a line')
    .action(async (count: string, { json, state }: { json?: boolean; state: string }) => {
      const instances = parseInstanceCount(count);
      await requestScale(state, instances, step => {
        process.stdout.write(
          `${json ? JSON.stringify(step) : (step.progress ?? `${step.instances} instances serve`)}\n`,
        );
      });
    });
}
