import { runService } from '#process/run-service.ts';
import { readConfig } from './config.ts';
import { work } from './work.ts';

await runService({ name: 'sds', readConfig: () => readConfig(process.env), start: work });
