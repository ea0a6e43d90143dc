/**
 * Sends random frames to an echo server: `npx node grpc/unary/testing/fuzz-by-hand.ts <seconds>
 * [first seed]`. Prints its progress and what the server holds every ten seconds. Add a seed at
 * which it fails to `fuzz.test.ts`.
 */
import { fuzz } from './fuzz.ts';
import { describeHarm, Victim } from './victim.ts';

const ROUND_MS = 10_000;
const seconds = Number(process.argv[2]);
const victim = await Victim.start();
const end = performance.now() + seconds * 1_000;
let seed = Number(process.argv[3] ?? 0);
while (performance.now() < end) {
  const roundEnd = Math.min(end, performance.now() + ROUND_MS);
  const harm = await victim.under(async () => {
    seed = await fuzz(victim.port, seed, () => performance.now() < roundEnd);
  });
  const { connections, rssMib } = await victim.held();
  process.stdout.write(
    `to seed ${seed}: ${describeHarm(harm)}, now ${rssMib.toFixed(0)} MiB, ${connections} connections\n`,
  );
}
victim.stop();
