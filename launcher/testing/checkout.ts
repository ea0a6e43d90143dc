import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#files/places.ts';

/**
 * A command that prints its arguments. The words `exit 7` and `wait` make it end so, or wait for a
 * signal.
 */
const MAIN = `
const args = process.argv.slice(2);
process.stdout.write(args.join(' ') + '\\n');
if (args[0] === 'exit') process.exit(Number(args[1]));
if (args[0] === 'wait') {
  setInterval(() => {}, 1e6);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => { process.stdout.write(signal + '\\n'); process.exit(3); });
  process.on('disconnect', () => process.exit());
  process.stdout.write('pid ' + process.pid + '\\n');
}
`;

/**
 * Creates a small project with our launcher. Its one locked dependency is a file, so that
 * installing it needs no network.
 */
export function makeCheckout(root: string): void {
  for (const folder of ['launcher', 'files', 'cli', 'package'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const path of ['launcher/start.cjs', 'launcher/install.cjs', 'files/lock.cjs']) {
    copyFileSync(join(ROOT, path), join(root, path));
  }
  writeFileSync(join(root, 'cli', 'main.ts'), MAIN);
  writeJson(join(root, 'package.json'), {
    name: 'checkout',
    version: '1.0.0',
    type: 'module',
    dependencies: { dep: 'file:dep.tgz' },
  });
  lockDependency(root, '1.0.0');
}

/** Packs the dependency in this version, and makes the lock file ask for it. */
export function lockDependency(root: string, version: string): void {
  writeJson(join(root, 'package', 'package.json'), { name: 'dep', version });
  execFileSync('tar', ['czf', 'dep.tgz', 'package'], { cwd: root });
  const hash = createHash('sha512').update(readFileSync(join(root, 'dep.tgz')));
  writeJson(join(root, 'package-lock.json'), {
    name: 'checkout',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'checkout', version: '1.0.0', dependencies: { dep: 'file:dep.tgz' } },
      'node_modules/dep': {
        version,
        resolved: 'file:dep.tgz',
        integrity: `sha512-${hash.digest('base64')}`,
      },
      'node_modules/elsewhere': { version: '1.0.0', optional: true, os: ['win32'] },
    },
  });
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, JSON.stringify(value));
}
