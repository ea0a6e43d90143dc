import { runWorkers } from '#process/run-workers.ts';
import { readConfig } from './config.ts';

await runWorkers({
  name: 'ratelimit-service',
  readConfig: () => readConfig(process.env),
  // The leader process never loads the service.
  work: async parts => (await import('./work.ts')).work(parts),
});
