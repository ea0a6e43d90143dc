import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of this gateway, as package.json has it. Source: Semantic Versioning 2.0.0. */
export const PRODUCT_VERSION: string = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
).version;
