import { Command } from 'commander';
import { parseInstanceCount } from '#launcher/instance-count.ts';
import { requestScale, type ScaleStep } from '#launcher/request-scale.ts';
import { stateOption } from './state-option.ts';
import { count } from './validate-output.ts';

const EXAMPLES = `
Examples:
  gateway scale 3
`;

/**
 * Returns `gateway scale <number>`. It changes the number of instances of a running gateway, and
 * ends when the gateway has them.
 */
export function scaleCommand(): Command {
  return new Command('scale')
    .description('change how many instances of the user service a running gateway has')
    .argument('<number>', 'how many')
    .addOption(stateOption("the running gateway's state folder"))
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', EXAMPLES)
    .action(async (count: string, { json, state }: { json?: boolean; state: string }) => {
      const instances = parseInstanceCount(count);
      await requestScale(state, instances, step => {
        process.stdout.write(`${json ? JSON.stringify(step) : describeStep(step)}\n`);
      });
    });
}

/** Returns a line for people, such as `1 instance serves`. */
export function describeStep({ instances = 0, progress }: ScaleStep): string {
  return progress ?? `${count(instances, 'instance')} ${instances === 1 ? 'serves' : 'serve'}`;
}
