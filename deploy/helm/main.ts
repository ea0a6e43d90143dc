import { join } from 'node:path';
import { writeChart } from './pack-chart.ts';

/**
 * `npx node deploy/helm/main.ts [FOLDER]` writes the Helm chart as a folder, by default
 * dist/helm/tollwright.
 */
const [, , folder = join(import.meta.dirname, '..', '..', 'dist', 'helm', 'tollwright')] =
  process.argv;
writeChart(folder);
process.stdout.write(`${folder}\n`);
