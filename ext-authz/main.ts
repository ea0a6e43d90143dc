import { shareAttempts } from '#ext-authz/oauth2/tokens/attempt-group.ts';
import { runWorkers } from '#process/run-workers.ts';
import { readConfig } from './config.ts';

await runWorkers({
  name: 'ext-authz',
  readConfig: () => readConfig(process.env),
  share: shareAttempts,
  // Whoever leads workers needs none of it.
  work: async parts => (await import('./work.ts')).work(parts),
});
