// Run `node deploy/image/write-sbom.ts SYSTEM PACKAGES`. It prints what the image is made of, as
// CycloneDX: Node.js, the packages of Debian in the folder SYSTEM, and those that npm has installed
// in the folder PACKAGES.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Component,
  npmComponent,
  purl,
  type Recorded,
  softwareBill,
} from './software-bill.ts';

const [, , system = '', packages = ''] = process.argv;
const records = join(system, 'var/lib/dpkg/status.d');
const components: readonly Component[] = [
  {
    type: 'application',
    name: 'node',
    version: process.versions.node,
    purl: purl('generic', 'node', process.versions.node),
  },
  ...readdirSync(records).map(file => debian(readFileSync(join(records, file), 'utf8'))),
  ...Object.entries<Recorded>(readJson('node_modules/.package-lock.json').packages).map(
    npmComponent,
  ),
];
process.stdout.write(softwareBill(readJson('package.json'), components));

/** Returns a package by its record in dpkg's status file. */
function debian(record: string): Component {
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(record)?.[1] ?? '';
  const found = { name: field('Package'), version: field('Version') };
  const path = `${purl('deb/debian', found.name, found.version)}?arch=${field('Architecture')}`;
  return { type: 'library', ...found, purl: path };
}

function readJson(file: string) {
  return JSON.parse(readFileSync(join(packages, file), 'utf8'));
}
