// Run `node deploy/image/write-sbom.ts SYSTEM PACKAGES`. It prints what the image is made of, as
// CycloneDX: Node.js, the packages of Debian in the folder SYSTEM, and those that npm has installed
// in the folder PACKAGES. (`npm sbom` leaves out packages that are there in two versions.) Equal
// images have equal lists. Source: https://cyclonedx.org/docs/1.5/json/
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Component = {
  readonly type: 'application' | 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
};

/** What npm notes of a package that it has installed. */
type Installed = {
  /** Where it is not the name of its folder. */
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
};

const [, , system = '', packages = ''] = process.argv;
const records = join(system, 'var/lib/dpkg/status.d');
const { description, license, name, version } = readJson('package.json');
const root = { type: 'application', name, version, description, purl: purl('npm', name, version) };
const components: readonly Component[] = [
  {
    type: 'application',
    name: 'node',
    version: process.versions.node,
    purl: purl('generic', 'node', process.versions.node),
  },
  ...readdirSync(records).map(file => debian(readFileSync(join(records, file), 'utf8'))),
  ...Object.entries<Installed>(readJson('node_modules/.package-lock.json').packages).map(npm),
];
const sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: { ...root, licenses: [{ expression: license }] } },
  components,
};
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);

/** Returns a package by its record in dpkg's status file. */
function debian(record: string): Component {
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(record)?.[1] ?? '';
  const found = { name: field('Package'), version: field('Version') };
  const path = `${purl('deb/debian', found.name, found.version)}?arch=${field('Architecture')}`;
  return { type: 'library', ...found, purl: path };
}

function npm([path, installed]: [string, Installed]): Component {
  const { integrity, license: terms, version: found } = installed;
  const called = installed.name ?? path.replace(/^.*node_modules\//, '');
  const [, algorithm, hash] = /^sha(\d+)-(.*)$/.exec(integrity ?? '') ?? [];
  const content = Buffer.from(hash ?? '', 'base64').toString('hex');
  return {
    type: 'library',
    name: called,
    version: found,
    purl: purl('npm', called, found),
    ...(terms !== undefined && { licenses: [{ expression: terms }] }),
    ...(algorithm !== undefined && { hashes: [{ alg: `SHA-${algorithm}`, content }] }),
  };
}

function purl(type: string, path: string, of: string): string {
  return `pkg:${type}/${path.replace('@', '%40')}@${encodeURIComponent(of)}`;
}

function readJson(file: string) {
  return JSON.parse(readFileSync(join(packages, file), 'utf8'));
}
