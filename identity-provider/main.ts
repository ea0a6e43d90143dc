import { runService } from '#process/run-service.ts';
import { readConfig } from './config.ts';
import { work } from './work.ts';

await runService({
  name: 'identity-provider',
  readConfig: () => readConfig(process.env),
  start: work,
});
