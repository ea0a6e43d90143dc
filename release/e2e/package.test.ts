import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { envoyBinary } from '#envoy/binary.ts';
import { httpRequest } from '#launcher/http-request.ts';
import { portsAt } from '#launcher/ports.ts';
import { npmComponent, type Recorded } from '../../deploy/image/software-bill.ts';
import {
  assertNothingLeft,
  type Gateway,
  pidsOf,
  startGateway,
  until,
} from '../../launcher/testing/gateway.ts';
import manifest from '../../package.json' with { type: 'json' };
import { buildPackage, pack } from '../build-package.ts';
import { installedPackages } from '../installed-packages.ts';

/** The first is the oldest that the package names. */
const NODES = ['22.19.0', '24.21.0'];
const [OLDEST = ''] = NODES;
const PNPM = '12.21.0';
const MOST_BYTES = 3 * 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'package-'));
after(() => rmSync(folder, { recursive: true, maxRetries: 10 }));
const built = join(folder, 'built');

/** Nothing is left in caches of the user, and every message of npm about its own updates is off. */
const environment = {
  ...process.env,
  XDG_CACHE_HOME: join(folder, 'cache'),
  npm_config_update_notifier: 'false',
};

function run(
  command: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = environment,
): string {
  const [file = '', ...args] = command;
  return execFileSync(file, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function emptyFolder(name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name);
}

const NPM_INSTALL = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline'];

/** Installs packages of npm into a folder of their own, and returns its `node_modules`. */
function installed(name: string, ...packages: readonly string[]): string {
  const target = emptyFolder(name);
  run([...NPM_INSTALL, '--prefix', target, ...packages], target);
  return join(target, 'node_modules');
}

/** Returns the environment in which this version of Node runs all. Ours is there already. */
function withNode(version: string): NodeJS.ProcessEnv {
  if (version === process.versions.node) return withFirst(dirname(process.execPath));
  const name = `node-${process.platform}-${process.arch}`;
  const modules = installed(`node-${version}`, `${name}@${version}`);
  return withFirst(join(modules, name, 'bin'));
}

function withFirst(folder: string): NodeJS.ProcessEnv {
  return { ...environment, PATH: [folder, process.env.PATH].join(delimiter) };
}

let tarball: string;
before(() => {
  buildPackage(built);
  tarball = pack(built, folder);
});

describe('the package', () => {
  test('names the oldest Node that it is tested on, and ends on older ones in words', () => {
    const { engines } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'));
    assert.equal(`${engines.node}.0`, `>=${OLDEST}`);
    const start = readFileSync(join(built, 'launcher', 'package-start.cjs'), 'utf8');
    const oldest = /OLDEST = \[(\d+), (\d+)\]/.exec(start)?.slice(1).join('.');
    assert.equal(`${oldest}.0`, OLDEST);
  });

  test('has only what runs', () => {
    const files = globSync('**', { cwd: built, withFileTypes: true }).filter(file => file.isFile());
    const paths = files.map(file => join(file.parentPath, file.name));
    const wrong = paths.filter(path => /\.test\.|\/(testing|testdata|e2e|bench)\//.test(path));
    assert.deepEqual(wrong, []);
    const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    assert.ok(bytes < MOST_BYTES, `it has ${bytes} bytes`);
  });
});

const nodes = new Map<string, NodeJS.ProcessEnv>();
/** The Envoy that is installed already. */
let envoy: { readonly ENVOY_BIN: string };
before(async () => {
  for (const version of NODES) nodes.set(version, withNode(version));
  envoy = { ENVOY_BIN: await envoyBinary() };
});

const TSC = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'tsc');
const CHECK = `import { findProblems, type Problem } from 'tollwright';
declare const console: { log(text: string): void };
const [first]: readonly Problem[] = findProblems(['broken.yaml']);
console.log(first?.severity ?? 'none');
`;

/** Neither the package nor what it depends on needs a script to be installed. */
const MANAGERS: Readonly<
  Record<string, () => { add: readonly string[]; exec: readonly string[] }>
> = {
  npm: () => ({
    add: [...NPM_INSTALL, '--ignore-scripts', '--engine-strict'],
    exec: ['npx', '--no', '--'],
  }),
  pnpm: () => {
    const pnpm = join(installed('pnpm', `pnpm@${PNPM}`), '.bin', 'pnpm');
    const add = [pnpm, 'add', '--ignore-scripts', '--store-dir', join(folder, 'store')];
    return { add, exec: [pnpm, 'exec'] };
  },
};

for (const [manager, prepare] of Object.entries(MANAGERS))
  describe(`installed into an empty folder by ${manager}`, () => {
    const cwd = join(folder, `by-${manager}`);
    let command: readonly string[];
    before(() => {
      const { add, exec } = prepare();
      mkdirSync(cwd);
      run([...add, tarball], cwd, nodes.get(OLDEST));
      command = [...exec, 'tollwright'];
    });

    // Only npm writes down what it has installed.
    if (manager === 'npm') {
      test('nothing is there that the release does not list as a part', () => {
        const record = join(cwd, 'node_modules', '.package-lock.json');
        const { packages } = JSON.parse(readFileSync(record, 'utf8'));
        const namesOf = (all: readonly (readonly [string, Recorded])[]) =>
          [...new Set(all.map(each => npmComponent(each).name))].sort();
        const found = Object.entries<Recorded>(packages);
        assert.deepEqual(namesOf(found), [...namesOf(installedPackages()), manifest.name].sort());
      });
    }

    test('a program may import the check of resources, with its types', () => {
      writeFileSync(join(cwd, 'check.ts'), CHECK);
      writeFileSync(join(cwd, 'broken.yaml'), 'kind: Mapping\n');
      const options = ['--module', 'nodenext', '--target', 'esnext', '--types', '', '--strict'];
      run([TSC, ...options, '--ignoreConfig', 'check.ts'], cwd);
      assert.equal(run([process.execPath, 'check.js'], cwd), 'error\n');
    });

    for (const version of NODES) {
      test(`the command tells its version, its help and first resources on Node ${version}`, () => {
        const env = nodes.get(version);
        assert.equal(run([...command, '--version'], cwd, env), `${manifest.version}\n`);
        assert.match(run([...command, '--help'], cwd, env), /^ {2}init .*\n(.*\n)* {2}up /m);
        run([...command, 'init', version], cwd, env);
        run([...command, 'validate', `${version}/resources`], cwd, env);
      });

      test(`the demo starts on Node ${version}, answers and stops without a rest`, async t => {
        const gateway = await startGateway({
          by: { command, cwd },
          environment: { ...(nodes.get(version) as Record<string, string>), ...envoy },
        });
        t.after(() => gateway.remove());
        await gateway.ready();
        const request = { address: gateway.edge, path: '/user/health' };
        assert.equal((await httpRequest(request)).status, 200);
        const pids = await pidsOf(gateway);
        gateway.process.kill('SIGTERM');
        // npx ends by the signal that it has passed on.
        assert.ok([0, null].includes(await gateway.exited), gateway.said());
        await assertNothingLeft(pids, gateway.portOffset);
      });
    }
  });

describe('installed by npm', () => {
  const cwd = join(folder, 'by-npm');
  let gateway: Gateway;
  before(async () => {
    const provider = `oidc-provider@${manifest.devDependencies['oidc-provider']}`;
    run([...NPM_INSTALL, provider], cwd);
    const by = { command: ['npx', '--no', '--', 'tollwright'], cwd };
    const environment = { ...withFirst(dirname(process.execPath)), ...envoy };
    gateway = await startGateway({ by, environment });
    await gateway.ready();
  });
  after(() => gateway?.remove());

  test('with the package of a provider the demo has its login', async () => {
    const statusOf = async (address: string, path: string) =>
      (await httpRequest({ address, path, headers: { accept: 'text/html' }, timeoutMs: 10_000 }))
        .status;
    await until(async () => (await statusOf(gateway.edge, '/account')) === 303, gateway.said);
    const provider = `127.0.0.1:${portsAt(gateway.portOffset).identityProvider}`;
    assert.equal(await statusOf(provider, '/.well-known/openid-configuration'), 200);
  });

  test('nothing is left when npx is killed outright', async () => {
    const pids = await pidsOf(gateway);
    gateway.process.kill('SIGKILL');
    await assertNothingLeft(pids, gateway.portOffset);
  });
});
