import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PRODUCT_VERSION } from '#files/product-version.ts';
import { makeEnvoyApi } from '#launcher/make-envoy-api.ts';
import { ARTEFACTS, hasDocker } from './artefacts.ts';
import { releaseProblems } from './release-problems.ts';

const HELP = `npm run release                      makes the release of this commit in dist/: package, SBOM, schemas,
                                     notes, chart, image and checksums. The commit must be clean, have the
                                     tag of its version, and a section in CHANGELOG.md.
npm run release -- --without-image   leaves out the image, where there is no Docker.
npm run release -- --draft           tells what a release would lack, and makes it all the same. The
                                     image is left out where there is no Docker.
npm run release -- --to FOLDER       makes it there. What is in the folder is removed.
`;

const ROOT = join(import.meta.dirname, '..');

const say = (line: string) => process.stderr.write(`gateway: ${line}\n`);

try {
  await release();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function release(): Promise<void> {
  const { values } = parseArgs({
    options: {
      draft: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      to: { type: 'string', default: join(ROOT, 'dist') },
      'without-image': { type: 'boolean', default: false },
    },
  });
  const { draft, help, to: dist, 'without-image': withoutImage } = values;
  if (help) return void process.stdout.write(HELP);
  const withImage = !withoutImage && hasDocker();
  const problems = [
    ...problemsNow(),
    ...(withImage || withoutImage
      ? []
      : ['there is no Docker that builds the image: start one, or leave it out (--without-image)']),
  ];
  for (const problem of problems) say(problem);
  if (problems.length > 0 && !draft)
    throw new Error('nothing is released. A draft (--draft) is made all the same');
  await makeEnvoyApi(say);
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  for (const { name, write } of ARTEFACTS) if (name !== 'image' || withImage) write(dist);
  const sums = readdirSync(dist)
    .sort()
    .map(file => sumOf(dist, file));
  writeFileSync(join(dist, 'SHA256SUMS'), sums.join(''));
  for (const file of readdirSync(dist)) {
    const { size } = statSync(join(dist, file));
    say(`${file}: ${size} bytes`);
  }
  say(`that is the release, in ${dist}${withImage ? '' : ', without the image'}`);
}

function problemsNow(): readonly string[] {
  return releaseProblems({
    version: PRODUCT_VERSION,
    changelog: readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'),
    dockerfile: readFileSync(join(ROOT, 'Dockerfile'), 'utf8'),
    tags: git('tag', '--points-at', 'HEAD').split('\n'),
    changed: git('status', '--porcelain'),
  });
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trimEnd();
}

/** Returns a line that `sha256sum --check` reads. */
function sumOf(dist: string, file: string): string {
  const hash = createHash('sha256').update(readFileSync(join(dist, file)));
  return `${hash.digest('hex')}  ${file}\n`;
}
