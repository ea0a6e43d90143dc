// Run `npx node deploy/image/make-image.ts FOLDER [PLATFORM]`. It builds the image of this commit
// and writes what it is made of into FOLDER: sbom.cdx.json (CycloneDX) and provenance.json, an
// in-toto statement (https://slsa.dev/spec/v1.0/provenance). Needs Docker with BuildKit.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** Bytes, unpacked. */
const LARGEST = 200_000_000;

const [, , folder, platform] = process.argv;
if (folder === undefined) throw new Error('want the folder to write to');
mkdirSync(folder, { recursive: true });
const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const tag = `${name}:${version}`;
const commit = run('git', 'rev-parse', 'HEAD');
const isClean = run('git', 'status', '--porcelain') === '';
const parameters = {
  // An image of other sources than those of the commit must not pass for it.
  REVISION: isClean ? commit : `${commit}-changed`,
  CREATED: run('git', 'log', '-1', '--format=%cI'),
};

run('docker', 'build', '--quiet', '--tag', tag, ...options(), '.');
const { Architecture, Id, Os, Size } = JSON.parse(run('docker', 'image', 'inspect', tag))[0];
if (Size > LARGEST) throw new Error(`${tag} has ${Size} bytes, more than ${LARGEST}`);
copyOut('/sbom.cdx.json', join(folder, 'sbom.cdx.json'));
writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(provenance(), null, 2)}\n`);
process.stdout.write(`${tag} ${Id} ${Os}/${Architecture} ${Math.round(Size / 1e6)} MB\n`);

function options(): readonly string[] {
  const args = Object.entries(parameters).flatMap(([key, value]) => [
    '--build-arg',
    `${key}=${value}`,
  ]);
  return platform === undefined ? args : [...args, '--platform', platform];
}

function copyOut(path: string, to: string): void {
  const container = run('docker', 'create', tag);
  run('docker', 'cp', `${container}:${path}`, to);
  run('docker', 'rm', container);
}

/** The subject is the image by its id, which stays when it is pushed. */
function provenance() {
  const bases = [...read('Dockerfile').matchAll(/^(?:ARG NODE=|FROM .*?)([\w/]+:[\w.-]+)/gm)];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: tag, digest: { sha256: Id.replace('sha256:', '') } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://mobyproject.org/buildkit@v1',
        externalParameters: {
          dockerfile: 'Dockerfile',
          platform: `${Os}/${Architecture}`,
          parameters,
        },
        resolvedDependencies: [
          { uri: 'git+file:.', digest: { gitCommit: commit } },
          ...['Dockerfile', 'package-lock.json'].map(file => ({
            uri: file,
            digest: { sha256: hash(file) },
          })),
          ...new Set(bases.map(([, base]) => base)).values().map(baseImage),
        ],
      },
      runDetails: { builder: { id: process.env.BUILDER_ID ?? 'urn:local' } },
    },
  };
}

/** The digest of a base is known where Docker has pulled it by name. */
function baseImage(base: string | undefined) {
  const uri = `docker-image://${base}`;
  try {
    const pulled = run(
      'docker',
      'image',
      'inspect',
      '--format',
      '{{ join .RepoDigests " " }}',
      `${base}`,
    );
    const sha256 = /@sha256:([0-9a-f]{64})/.exec(pulled)?.[1];
    return sha256 === undefined ? { uri } : { uri, digest: { sha256 } };
  } catch {
    return { uri };
  }
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function hash(file: string): string {
  return createHash('sha256').update(read(file)).digest('hex');
}

function run(file: string, ...args: readonly string[]): string {
  const env = { ...process.env, DOCKER_BUILDKIT: '1' };
  return execFileSync(file, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}
