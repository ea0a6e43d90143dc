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
import { join, relative } from 'node:path';
import { API_PATH } from '#protos/envoy-api/api-file.ts';
import manifest from '../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..');

/** What our processes read beside their code. The browser's modules are stripped when served. */
const DATA: readonly string[] = [
  'LICENSE',
  'controlplane/console/browser',
  'deploy/kubernetes/system/drain-envoy.sh',
  'envoy/resources',
  'launcher/lock.cjs',
  'launcher/lock.d.cts',
  'launcher/package-start.cjs',
  'protos/gateway',
  'protos/grpc',
  relative(ROOT, API_PATH),
];

const LEFT_OUT = /(\.test\.ts|\/tsconfig\.json)$/;

/**
 * Builds the package for npm in the new folder `target`: JavaScript and declarations of what our
 * commands and processes reach, and what these read. Envoy's API must have been made.
 * @throws an Error with what the compiler says
 */
export function buildPackage(target: string): void {
  rmSync(target, { recursive: true, force: true });
  compile(target);
  for (const path of DATA)
    cpSync(join(ROOT, path), join(target, path), {
      recursive: true,
      filter: source => !LEFT_OUT.test(source),
    });
  cpSync(join(import.meta.dirname, 'package-readme.md'), join(target, 'README.md'));
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

function compile(target: string): void {
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const args = ['-p', join(import.meta.dirname, 'tsconfig.json'), '--outDir', target];
  try {
    execFileSync(tsc, args, { encoding: 'utf8' });
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? error.stdout : error;
    throw new Error(`Cannot compile the package: ${said}`);
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
    engines: { node: '>=22.13' },
    os: ['linux', 'darwin'],
    cpu: ['x64', 'arm64'],
    bin: { gateway: START, tollwright: START },
    imports: Object.fromEntries(
      Object.values(imports).map(path => [`#${path.slice(2)}.ts`, `${path}.js`]),
    ),
    dependencies,
    peerDependencies: { 'oidc-provider': `^${provider}` },
    peerDependenciesMeta: { 'oidc-provider': { optional: true } },
  };
}

const START = 'launcher/package-start.cjs';

/** The compiler does not follow programs and threads, which are named where they are started. */
function refuseMissing(target: string): void {
  for (const file of globSync('**/*.js', { cwd: target })) {
    const text = readFileSync(join(target, file), 'utf8');
    for (const [, path = ''] of text.matchAll(/import\.meta\.resolve\(["'`]#([\w/-]+)\.ts/g)) {
      if (!existsSync(join(target, `${path}.js`)))
        throw new Error(`The package lacks ${path}.js: add it to release/tsconfig.json`);
    }
  }
}
