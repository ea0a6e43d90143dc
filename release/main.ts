import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeEnvoyApi } from '#launcher/make-envoy-api.ts';
import { buildPackage, pack } from './build-package.ts';

/** `npm run release` makes what a release consists of, in `dist/`. */
const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

const say = (line: string) => process.stderr.write(`gateway: ${line}\n`);

await makeEnvoyApi(say);
rmSync(DIST, { recursive: true, force: true });
const built = join(ROOT, '.gateway', 'package');
buildPackage(built);
say(`packed ${pack(built, DIST)}`);
