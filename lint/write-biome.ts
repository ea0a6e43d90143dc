import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { biomeConfig } from './biome-config.ts';

writeFileSync(
  join(import.meta.dirname, '..', 'biome.json'),
  `${JSON.stringify(biomeConfig(), null, 2)}\n`,
);
