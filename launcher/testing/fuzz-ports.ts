/**
 * Run `npx node launcher/testing/fuzz-ports.ts --minutes 30 [--seed N] [--workers N]`. It starts
 * the demo with one instance, and sends mutations of recorded requests to each of its ports for so
 * long. It prints its progress once a minute, and at the end the counts by port, the memory, and
 * the processes that ended. Its exit code is 1 when a process ended. Then the state folder with its
 * logs stays.
 */
import { parseArgs } from 'node:util';
import { attack } from './fuzz/attack.ts';
import { describeAttack } from './fuzz/describe-attack.ts';
import { startGateway } from './gateway.ts';

const MINUTE_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '4' },
  },
});
const gateway = await startGateway({ args: ['--instances', '1'] });
process.once('SIGINT', () => gateway.process.kill('SIGINT'));
await gateway.ready();
const begun = performance.now();
const end = begun + Number(values.minutes) * MINUTE_MS;
let told = begun;
const report = await attack(gateway, {
  first: Number(values.seed),
  workers: Number(values.workers),
  goesOn: seed => {
    const now = performance.now();
    if (now - told > MINUTE_MS) {
      told = now;
      process.stdout.write(`${Math.round((now - begun) / MINUTE_MS)} min: to seed ${seed}\n`);
    }
    return now < end && gateway.process.exitCode === null;
  },
});
process.stdout.write(describeAttack(report));
if (report.exits.length === 0) await gateway.remove();
else {
  gateway.process.kill('SIGTERM');
  process.stdout.write(`${gateway.said()}\nlogs: ${gateway.state}/logs\n`);
}
process.exit(report.exits.length === 0 ? 0 : 1);
