import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeEnvoyApi } from '#launcher/make-envoy-api.ts';
import { npmComponent, type Recorded, softwareBill } from '../deploy/image/software-bill.ts';
import manifest from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };
import { buildPackage, pack } from './build-package.ts';

/**
 * `npm run release` makes what a release consists of, in `dist/`: the package for npm, its
 * dependencies as an SBOM (CycloneDX), and the SHA-256 of each file.
 */
const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const BUILT = join(ROOT, '.gateway', 'package');

const say = (line: string) => process.stderr.write(`gateway: ${line}\n`);

try {
  await makeEnvoyApi(say);
  rmSync(DIST, { recursive: true, force: true });
  buildPackage(BUILT);
  const name = basename(pack(BUILT, DIST), '.tgz');
  writeFileSync(
    join(DIST, `${name}.cdx.json`),
    softwareBill(manifest, installed().map(npmComponent)),
  );
  writeFileSync(join(DIST, 'SHA256SUMS'), readdirSync(DIST).map(sumOf).join(''));
  say(`wrote ${readdirSync(DIST).join(', ')} into ${DIST}`);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

type Locked = Recorded & { readonly dev?: boolean; readonly optional?: boolean };

/** Returns the packages that are installed with ours, by the lock file. */
function installed(): readonly (readonly [string, Recorded])[] {
  const packages: Readonly<Record<string, Locked>> = lock.packages;
  return Object.entries(packages).filter(
    ([path, { dev, optional }]) => path !== '' && !dev && !optional,
  );
}

/** Returns a line that `sha256sum --check` reads. */
function sumOf(file: string): string {
  const hash = createHash('sha256').update(readFileSync(join(DIST, file)));
  return `${hash.digest('hex')}  ${file}\n`;
}
