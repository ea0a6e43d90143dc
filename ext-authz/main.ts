import { shareAttempts } from '#ext-authz/oauth2/tokens/attempt-group.ts';
import { runWorkers } from '#process/run-workers.ts';
import { readConfig } from './config.ts';

await runWorkers({
  name: 'ext-authz',
  readConfig: () => readConfig(process.env),
  share: shareAttempts,
  // The process that leads workers never loads the service.
  work: async parts => (await import('./work.ts')).work(parts),
});
