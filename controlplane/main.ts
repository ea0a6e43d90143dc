import { runService } from '#process/run-service.ts';
import { readConfig } from './config.ts';
import { keepHeapSmall } from './small-heap.ts';
import { work } from './work.ts';

keepHeapSmall();
await runService({ name: 'controlplane', readConfig: () => readConfig(process.env), start: work });
