import { runWorkers } from '#process/run-workers.ts';
import { readConfig } from './config.ts';
import { shareAttempts } from './oauth2/attempt-group.ts';

await runWorkers({
  name: 'ext-authz',
  readConfig: () => readConfig(process.env),
  share: shareAttempts,
  // Whoever leads workers needs none of it.
  work: async parts => (await import('./work.ts')).work(parts),
});
