// Run `npx node deploy/image/make-image.ts FOLDER [PLATFORM]`. It builds the image of this commit
// and writes it into FOLDER as image.tar, which `docker load` reads. Docker 25 and later write it
// as an OCI image layout, too. Beside it is what it is made of: image.cdx.json (CycloneDX) and
// image.provenance.json, an in-toto statement (https://slsa.dev/spec/v1.0/provenance). Needs
// Docker with BuildKit. Bases are those that Docker has under their names. What it does not have it
// pulls, and builds on exactly that, by its digest.
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
const bases = basesOf(read('Dockerfile'));
const parameters = {
  // An image of other sources than those of the commit must not pass for it.
  REVISION: isClean ? commit : `${commit}-changed`,
  CREATED: run('git', 'log', '-1', '--format=%cI'),
  ...Object.fromEntries(
    bases.map(({ argument, name, sha256 }) => [argument, pinned(name, sha256)]),
  ),
};

run('docker', 'build', '--quiet', '--tag', tag, ...options(), '.');
const { Architecture, Id, Os, Size } = JSON.parse(run('docker', 'image', 'inspect', tag))[0];
if (Size > LARGEST) throw new Error(`${tag} has ${Size} bytes, more than ${LARGEST}`);
copyOut('/sbom.cdx.json', join(folder, 'image.cdx.json'));
writeFileSync(join(folder, 'image.provenance.json'), `${JSON.stringify(provenance(), null, 2)}\n`);
run('docker', 'save', '--output', join(folder, 'image.tar'), tag);
process.stdout.write(`${tag} ${Id} ${Os}/${Architecture} ${Math.round(Size / 1e6)} MB\n`);
for (const { name, sha256 } of bases)
  if (sha256 === undefined)
    process.stdout.write(`${name} has no digest of a registry, so nothing pins it\n`);

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
          ...bases.map(({ name, sha256 }) => ({
            uri: `docker-image://${name}`,
            ...(sha256 !== undefined && { digest: { sha256 } }),
          })),
        ],
      },
      runDetails: { builder: { id: builder(process.env) } },
    },
  };
}

/** Returns what the image is built on, by the arguments of the Dockerfile that name it. */
function basesOf(dockerfile: string) {
  return [...dockerfile.matchAll(/^ARG (\w+)=([\w/]+:[\w.-]+)$/gm)].map(
    ([, argument = '', name = '']) => ({ argument, name, sha256: digestOf(name) }),
  );
}

/** Images of this machine have no digest of a registry. */
function digestOf(name: string): string | undefined {
  const isHere = run('docker', 'image', 'ls', '--quiet', name) !== '';
  if (!isHere) run('docker', 'pull', '--quiet', name);
  const format = '{{ join .RepoDigests " " }}';
  const digests = run('docker', 'image', 'inspect', '--format', format, name);
  return /@sha256:([0-9a-f]{64})/.exec(digests)?.[1];
}

function pinned(name: string, sha256: string | undefined): string {
  return sha256 === undefined ? name : `${name}@sha256:${sha256}`;
}

/** Source: docs.github.com, "Default environment variables". */
function builder({ GITHUB_SERVER_URL: server, GITHUB_WORKFLOW_REF: workflow }: NodeJS.ProcessEnv) {
  return server && workflow ? `${server}/${workflow}` : 'urn:local';
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
