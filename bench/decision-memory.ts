/**
 * `npx node bench/decision-memory.ts [millions]`: what our rate limit service holds after each of 10 million decisions (or so many millions), counters in
 * memory. One Markdown table on standard output; it must be flat after the first million.
 */
import { memoryOf } from './process-usage.ts';
import { askAsFastAsPossible } from './ratelimit/decision-load.ts';
import { startDecisionService } from './ratelimit/decision-service.ts';
import { toTable } from './table.ts';

const MILLION = 1_000_000;
const millions = Number(process.argv[2] ?? 10);
const service = await startDecisionService('ours, in memory', 100, '');
const rows = new Map<string, string>();
try {
  for (let million = 1; million <= millions; million++) {
    const { failed } = await askAsFastAsPossible(service.port, 4, 64, answered => answered >= MILLION);
    if (failed > 0) throw new Error(`${failed} decisions had no answer`);
    const { now, highest } = memoryOf(service.service);
    rows.set(`${million}`, `${now.toFixed(0)} / ${highest.toFixed(0)}`);
    process.stderr.write(`${million} million: ${now.toFixed(1)} MiB, at its highest ${highest.toFixed(1)}\n`);
  }
} finally {
  await service.stop();
}
process.stdout.write(toTable('million decisions', new Map([['memory now / highest, MiB', rows]])));
