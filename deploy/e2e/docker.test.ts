import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startLoad } from '#envoy/e2e/load.ts';
import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { logIn, startBrowser, whyNoBrowser } from '../../ext-authz/e2e/browser.ts';
import { ROOT } from '../testing/compose-file.ts';
import { addLogin, containerOf, copyProject, notWell } from '../testing/compose-project.ts';
import {
  filesOf,
  inImage,
  NODE_VERSION,
  OUR_IMAGE,
  onArm64,
  PACKAGE,
  productionPackages,
  QEMU,
} from '../testing/image-facts.ts';
import { type Docker, startDocker, whyNoDocker } from '../testing/start-docker.ts';

const EDGE = 'http://127.0.0.1:8080';
const JSON_BODY = { 'content-type': 'application/json' };

/** Stand-ins, which have no digests of a registry. */
const BASES = [`node:${NODE_VERSION}-bookworm-slim`, `envoyproxy/envoy:v${ENVOY_VERSION}`];

/** Of the limit that `copyProject` adds. */
const RATE = 1000;
const today = () => Math.floor(Date.now() / 86_400_000);

const LOAD = { connections: 8, perSecond: 40, longestMs: 200_000 };

/** All but the edge, one of each kind. The three instances are alike. */
const CONTAINERS = [
  'controlplane',
  'sds',
  'ratelimit-service',
  'ext-authz',
  'user-service-1-network',
  'user-service-1',
  'user-service-1-proxy',
  'postgres',
  'valkey',
  'valkey-counters',
];

describe('compose.yaml in a real Docker', { skip: whyNoDocker() || whyNoBrowser() }, () => {
  let project: string;
  let engine: Docker;
  let provider: ChildProcess | undefined;
  let cookie: string;
  let roots: string;
  let left: number;
  let day: number;

  const start = async () => {
    project = mkdtempSync(join(tmpdir(), 'compose-'));
    copyProject(project);
    engine = await startDocker(project);
    // A run that was cut off may have left some.
    await engine.compose('down', '--volumes', '--remove-orphans');
  };
  // The first run on a machine makes the bases.
  before(start, { timeout: 840_000 });

  after(async () => {
    provider?.kill();
    await engine?.compose('down', '--volumes');
    await engine?.stop();
    rmSync(project, { recursive: true, force: true });
  });

  const readRoots = () =>
    engine.compose(
      'exec',
      '-T',
      'sds',
      'node',
      '-p',
      "fs.readFileSync('/var/lib/gateway/authority/roots.pem', 'utf8')",
    );

  /** What clients have of the gateway is as it was: a user, a session, a count, the authority. */
  async function assertNothingIsLost(): Promise<void> {
    const user = await request(EDGE, '/user/grace');
    assert.equal(user.status, 200, user.body);
    const account = await request(EDGE, '/account/api', { headers: { cookie } });
    assert.equal(account.status, 200, account.body);
    assert.match(account.body, /Ada Lovelace/);
    // A busy machine may answer too late for the edge, which then lets the request through.
    let asked = 0;
    const now = await until(async () => {
      asked += 1;
      const { headers } = await request(EDGE, '/user/health', { method: 'HEAD' });
      return headers['x-left'] === undefined ? undefined : Number(headers['x-left']);
    });
    // The limit is one of a day, which may have begun since.
    const before = day === today() ? left : RATE;
    assert.ok(now < before && now >= before - asked, `${before}, ${asked} asked, ${now}`);
    [left, day] = [now, today()];
    assert.equal(await readRoots(), roots);
  }

  test('one command makes all of a release, and says what the image is made of and by what', async t => {
    await engine.compose('build');
    const folder = join(project, 'made');
    const script = join(ROOT, 'release/main.ts');
    const said = await engine.run(process.execPath, script, '--draft', '--to', folder);
    const [built = '', ...loose] = said.trimEnd().split('\n');
    assert.match(built, new RegExp(`^${OUR_IMAGE} sha256:[0-9a-f]{64} linux/amd64 \\d+ MB$`));
    assert.deepEqual(
      loose,
      BASES.map(base => `${base} has no digest of a registry, so nothing pins it`),
    );
    t.diagnostic(built);
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: folder });
    const name = `${PACKAGE.name}-${PACKAGE.version}`;
    const made = ['image.cdx.json', 'image.provenance.json', 'image.tar', 'notes.md'];
    assert.deepEqual(
      readdirSync(folder).sort(),
      [
        'SHA256SUMS',
        `${PACKAGE.name}-helm-${PACKAGE.version}.tgz`,
        ...[...made, 'schemas.tar.gz'].map(file => `${name}-${file}`),
        ...[`${name}.cdx.json`, `${name}.tgz`],
      ].sort(),
    );
    const read = (file: string) =>
      JSON.parse(readFileSync(join(folder, `${name}-${file}`), 'utf8'));
    const { components } = read('image.cdx.json');
    const purls = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl));
    const packages = purls.flatMap((purl: string) => /^pkg:npm\/(.*)$/.exec(purl)?.slice(1) ?? []);
    assert.deepEqual([...new Set(packages)].sort(), productionPackages());
    assert.ok(purls.includes(`pkg:generic/node@${NODE_VERSION}`));
    for (const name of ['libc6', 'libgcc-s1', 'libstdc++6'])
      assert.ok(
        purls.some((purl: string) => purl.startsWith(`pkg:deb/debian/${name}@`)),
        name,
      );
    const { subject, predicate } = read('image.provenance.json');
    assert.ok(said.includes(`sha256:${subject[0].digest.sha256}`));
    const { ENVOY, NODE } = predicate.buildDefinition.externalParameters.parameters;
    assert.deepEqual([NODE, ENVOY], [...BASES]);
    const commit = predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit;
    const { Config } = JSON.parse(await engine.docker('image', 'inspect', OUR_IMAGE))[0];
    const label = (name: string) => Config.Labels[`org.opencontainers.image.${name}`];
    assert.equal(label('revision').replace('-changed', ''), commit);
    assert.deepEqual([label('title'), label('version')], [PACKAGE.name, PACKAGE.version]);
    assert.deepEqual([Config.User, Config.Healthcheck.Test[0]], ['1000:1000', 'CMD']);
  });

  test('the image has what its processes need, and no shell, no test and no way to more rights', async () => {
    const files = await filesOf(engine);
    const paths = files.map(({ path }) => path);
    assert.deepEqual(
      paths.filter(path => /\/s?bin\//.test(path) && !path.includes('/node_modules/')),
      ['/usr/local/bin/node'],
    );
    const tests = /\.test\.ts$|^\/gateway\/(?!node_modules).*(\.test\.|\/(e2e|testing|testdata)\/)/;
    assert.deepEqual(
      paths.filter(path => tests.test(path)),
      [],
    );
    assert.deepEqual(
      files.filter(({ mode }) => (mode & 0o6000) !== 0),
      [],
    );
    assert.equal(await inImage(engine, 'node', '-p', 'process.versions.node'), `${NODE_VERSION}\n`);
    assert.match(await inImage(engine, 'node', 'cli/main.js', '--help'), /Usage: gateway/);
  });

  test('the image for arm64 runs there', { skip: QEMU.skip }, async () => {
    const facts = 'process.arch + process.versions.node';
    assert.equal(await onArm64(engine, project, '-p', facts), `arm64${NODE_VERSION}\n`);
    const script = '/gateway/deploy/compose/create-database-secret.js';
    assert.equal(await onArm64(engine, project, script, '/tmp'), '');
  });

  test('all containers become healthy', async () => {
    await engine.compose('up', '--wait');
    assert.deepEqual(await notWell(engine), []);
  });

  test('users, limits and a login work', async () => {
    const body = JSON.stringify({ fullname: 'Grace Hopper', password: 'nanosecond' });
    const made = await request(EDGE, '/user/grace', { method: 'PUT', headers: JSON_BODY, body });
    assert.equal(made.status, 201, made.body);
    const guess = () =>
      request(EDGE, '/user/grace/login', {
        method: 'POST',
        headers: JSON_BODY,
        body: JSON.stringify({ password: 'a guess' }),
      });
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await guess()).status);
    assert.deepEqual(statuses.at(-1), 429, String(statuses));
    provider = await addLogin(project);
    await until(async () => (await request(EDGE, '/account/api')).status === 401 || undefined);
    cookie = await logInAsAda();
    const head = await request(EDGE, '/user/health', { method: 'HEAD' });
    [left, day] = [Number(head.headers['x-left']), today()];
    assert.equal(left, RATE - 1);
    roots = await readRoots();
    await assertNothingIsLost();
  });

  async function logInAsAda(): Promise<string> {
    const browser = await startBrowser();
    try {
      const context = await browser.newContext();
      await logIn(await context.newPage(), `${EDGE}/account`, 'ada', 'difference');
      const cookies = await context.cookies(EDGE);
      return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    } finally {
      await browser.close();
    }
  }

  /** The holder of a network takes along what is in it. */
  const endingWith = (service: string) =>
    service.endsWith('-network')
      ? [service, service.replace('-network', ''), service.replace('-network', '-proxy')]
      : [service];

  const startsOf = (services: readonly string[]) =>
    Promise.all(services.map(async name => (await containerOf(engine, name)).State.StartedAt));

  /**
   * Sends requests while `end` ends containers, until they have started again and are healthy.
   * Returns those that failed.
   */
  async function underLoad(services: readonly string[], end: () => Promise<unknown>) {
    const before = await startsOf(services);
    const load = startLoad({ base: EDGE, path: '/user/health', ...LOAD });
    await load.more(20);
    await end();
    await until(async () => {
      const now = await startsOf(services);
      const again = now.every((time, index) => time !== before[index]);
      return (again && (await notWell(engine)).length === 0) || undefined;
    });
    await load.more(20);
    return (await load.stop()).failures;
  }

  for (const service of [...CONTAINERS, 'edge']) {
    test(`nothing is lost when ${service} is killed`, async () => {
      const { Pid } = (await containerOf(engine, service)).State;
      const failures = await underLoad(endingWith(service), () => engine.kill(Pid));
      // There is one edge.
      if (service !== 'edge') assert.deepEqual(failures, []);
      await assertNothingIsLost();
    });
  }

  test('no request is lost when all but the edge are restarted, one after the other', async () => {
    const failures = await underLoad(CONTAINERS, async () => {
      for (const service of CONTAINERS) await engine.compose('restart', service);
    });
    assert.deepEqual(failures, []);
    await assertNothingIsLost();
  });

  test('nothing is lost when all containers are removed and made again', async () => {
    await engine.compose('down');
    await engine.compose('up', '--wait');
    await assertNothingIsLost();
  });
});
