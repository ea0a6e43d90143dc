import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeChart } from '../deploy/helm/chart.ts';
import { packChart } from '../deploy/helm/pack-chart.ts';
import { npmComponent, softwareBill } from '../deploy/image/software-bill.ts';
import manifest from '../package.json' with { type: 'json' };
import { buildPackage, pack } from './build-package.ts';
import { installedPackages } from './installed-packages.ts';
import { notesOf } from './release-problems.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILT = join(ROOT, '.gateway', 'package');

/** The files of a release begin with it, such as `tollwright-0.1.0`. */
const NAME = `${manifest.name}-${manifest.version}`;

/** What a release consists of beside SHA256SUMS. `write` puts it into the folder `dist`. */
export type Artefact = {
  readonly name: 'package' | 'bill' | 'schemas' | 'notes' | 'chart' | 'image';
  write(dist: string): void;
};

export const ARTEFACTS: readonly Artefact[] = [
  {
    name: 'package',
    write(dist) {
      buildPackage(BUILT);
      pack(BUILT, dist);
    },
  },
  {
    name: 'bill',
    write(dist) {
      const bill = softwareBill(manifest, installedPackages().map(npmComponent));
      writeFileSync(join(dist, `${NAME}.cdx.json`), bill);
    },
  },
  { name: 'schemas', write: writeSchemas },
  {
    name: 'notes',
    write(dist) {
      const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
      const notes = notesOf(changelog, manifest.version, process.env.GITHUB_REPOSITORY);
      writeFileSync(join(dist, `${NAME}-notes.md`), notes ?? 'A draft.\n');
    },
  },
  { name: 'chart', write: writeChart },
  { name: 'image', write: writeImage },
];

function writeChart(dist: string): void {
  packChart(dist, makeChart(manifest.version, publishedImage(process.env)));
}

/** Returns where the workflow of a release pushes the image. Undefined elsewhere. */
function publishedImage({ GITHUB_REPOSITORY: name }: NodeJS.ProcessEnv): string | undefined {
  return name ? `ghcr.io/${name.toLowerCase()}` : undefined;
}

/** The schemas of the commit, with its time, so that they pack into equal bytes everywhere. */
function writeSchemas(dist: string): void {
  const output = join(dist, `${NAME}-schemas.tar.gz`);
  const options = ['--format=tar.gz', `--prefix=${NAME}/`, `--output=${output}`];
  execFileSync('git', ['archive', ...options, 'HEAD', 'docs/schemas'], { cwd: ROOT });
}

/** Returns whether Docker answers here. */
export function hasDocker(): boolean {
  return spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;
}

function writeImage(dist: string): void {
  const folder = mkdtempSync(join(dist, '.image-'));
  try {
    const script = join(ROOT, 'deploy', 'image', 'make-image.ts');
    execFileSync(process.execPath, [script, folder], { stdio: ['ignore', 'inherit', 'inherit'] });
    for (const file of ['image.tar', 'image.cdx.json', 'image.provenance.json'])
      renameSync(join(folder, file), join(dist, `${NAME}-${file}`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
