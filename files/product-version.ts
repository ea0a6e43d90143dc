import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './places.ts';

/** The version of this gateway, as package.json has it. Source: Semantic Versioning 2.0.0. */
export const PRODUCT_VERSION: string = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
).version;
