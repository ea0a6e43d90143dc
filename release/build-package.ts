import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { API_PATH } from '#protos/envoy-api/api-file.ts';
import manifest from '../package.json' with { type: 'json' };
import { bundle, OF_PACKAGE } from './bundle.ts';

const ROOT = join(import.meta.dirname, '..');

/** What our processes read beside their code. The browser's modules are stripped when served. */
const DATA: readonly string[] = [
  'LICENSE',
  'controlplane/console/browser',
  'deploy/kubernetes/system/drain-envoy.sh',
  'envoy/resources',
  'files/lock.cjs',
  'files/lock.d.cts',
  'launcher/package-start.cjs',
  'protos/gateway',
  'protos/grpc',
];

const LEFT_OUT = /(\.test\.ts|\/tsconfig\.json)$/;

/**
 * Builds the package for npm in the new folder `target`: what runs, declarations of the library and
 * a page. Envoy's API must have been made.
 * @throws an Error with what the bundler or the compiler says
 */
export function buildPackage(target: string): void {
  buildProgram(target, OF_PACKAGE);
  declareLibrary(target);
  cpSync(join(import.meta.dirname, 'package-readme.md'), join(target, 'README.md'));
}

/**
 * Builds what runs in the new folder `target`: JavaScript of what the entries reach, and what that
 * reads. npm's packages are not there. Envoy's API must have been made.
 * @throws an Error with what the bundler says
 */
export function buildProgram(target: string, entries: readonly string[]): void {
  rmSync(target, { recursive: true, force: true });
  bundle(target, entries);
  for (const path of DATA)
    cpSync(join(ROOT, path), join(target, path), {
      recursive: true,
      filter: source => !LEFT_OUT.test(source),
    });
  const api = join(target, relative(ROOT, `${API_PATH}.gz`));
  mkdirSync(dirname(api));
  writeFileSync(api, gzipSync(readFileSync(API_PATH), { level: 9 }));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(packageManifest(), null, 2)}\n`);
  refuseMissing(target);
}

/** Packs the built package in `folder` into `target`, and returns the path of the tarball. */
export function pack(folder: string, target: string): string {
  mkdirSync(target, { recursive: true });
  const args = ['pack', folder, '--pack-destination', target, '--json'];
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }));
  return join(target, filename);
}

/** Declares what programs may import, with its comments. All else is the package's own. */
function declareLibrary(target: string): void {
  const all = join(target, 'declared');
  declare(all);
  const files = ['cli/library.ts'];
  for (const file of files) {
    const declared = file.replace(/ts$/, 'd.ts');
    cpSync(join(all, declared), join(target, declared));
    for (const [, path = ''] of readFileSync(join(all, declared), 'utf8').matchAll(/'#([^']+)'/g))
      if (!files.includes(path)) files.push(path);
  }
  rmSync(all, { recursive: true });
}

function declare(target: string): void {
  const config = join(import.meta.dirname, 'tsconfig.json');
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  try {
    execFileSync(tsc, ['-p', config, '--outDir', target], { cwd: ROOT, encoding: 'utf8' });
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? error.stdout : error;
    throw new Error(`Cannot build the package: ${said}`);
  }
}

/**
 * Returns the manifest of the published package. A login of the demo needs a provider, which no
 * other part needs, so that one is optional.
 */
function packageManifest(): object {
  const { name, version, description, license, type, imports, dependencies } = manifest;
  const provider = manifest.devDependencies['oidc-provider'];
  return {
    ...{ name, version, description, license, type },
    ...repositoryOf(process.env),
    engines: { node: '>=22.19' },
    os: ['linux', 'darwin'],
    cpu: ['x64', 'arm64'],
    bin: { gateway: START, tollwright: START },
    exports: {
      '.': { types: './cli/library.d.ts', default: './cli/library.js' },
      './package.json': './package.json',
    },
    imports: {
      ...Object.fromEntries(
        Object.values(imports).map(path => [`#${path.slice(2)}.ts`, `${path}.js`]),
      ),
      '#files/lock.cjs': './files/lock.cjs',
    },
    dependencies,
    peerDependencies: { 'oidc-provider': `^${provider}` },
    peerDependenciesMeta: { 'oidc-provider': { optional: true } },
  };
}

const START = 'launcher/package-start.cjs';

/**
 * Returns the repository of the workflow that builds the package. npm compares it with what the
 * builder signs. Source: docs.npmjs.com, "Generating provenance statements".
 */
function repositoryOf({ GITHUB_REPOSITORY: name, GITHUB_SERVER_URL: server }: NodeJS.ProcessEnv) {
  return name && server ? { repository: { type: 'git', url: `git+${server}/${name}.git` } } : {};
}

/** The compiler does not follow programs and threads, which are named where they are started. */
function refuseMissing(target: string): void {
  for (const file of globSync('**/*.js', { cwd: target })) {
    const text = readFileSync(join(target, file), 'utf8');
    for (const [, path = ''] of text.matchAll(/import\.meta\.resolve\(["'`]#([\w/-]+)\.ts/g)) {
      if (!existsSync(join(target, `${path}.js`)))
        throw new Error(`The package lacks ${path}.js: add it to release/bundle.ts`);
    }
  }
}
