import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARDS } from './dashboards.ts';
import { toGrafana } from './grafana.ts';

for (const [file, dashboard] of Object.entries(DASHBOARDS))
  writeFileSync(join(import.meta.dirname, file), `${JSON.stringify(toGrafana(dashboard))}\n`);
