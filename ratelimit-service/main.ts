import { runWorkers } from '#process/run-workers.ts';
import { readConfig } from './config.ts';
import { shareCounters } from './counters-of-all.ts';

await runWorkers({
  name: 'ratelimit-service',
  readConfig: () => readConfig(process.env),
  share: shareCounters,
  // The leader process never loads the service.
  work: async parts => (await import('./work.ts')).work(parts),
});
