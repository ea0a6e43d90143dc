import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import { findTool } from '#launcher/testing/find-tool.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FILES = globSync('.github/workflows/*.yaml', { cwd: ROOT }).sort();

const actionlint = findTool('actionlint');

type Job = {
  readonly 'timeout-minutes'?: number;
  readonly uses?: string;
  readonly steps?: readonly { readonly name?: string; readonly run?: string }[];
};
type Workflow = { readonly permissions?: unknown; readonly jobs: Readonly<Record<string, Job>> };

describe('the workflows of GitHub', () => {
  test('are those of the continuous integration and of a release', () => {
    assert.deepEqual(FILES, ['.github/workflows/ci.yaml', '.github/workflows/release.yaml']);
  });

  // Other linters of scripts may be installed here, and say other things in other versions.
  test('are what GitHub understands', { skip: actionlint.skip }, () => {
    execFileSync(actionlint.path, ['-shellcheck=', '-pyflakes=', ...FILES], { cwd: ROOT });
  });

  for (const file of FILES) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const { jobs, permissions } = parse(text) as Workflow;

    test(`${file} runs actions of others by their commit alone`, () => {
      const used = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action);
      const loose = used.filter(
        action => !/^\.\/|^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action),
      );
      assert.deepEqual(loose, []);
    });

    test(`${file} says what its jobs may do, and how long`, () => {
      assert.notEqual(permissions, undefined);
      const endless = Object.entries(jobs).filter(
        ([, job]) => job.uses === undefined && job['timeout-minutes'] === undefined,
      );
      assert.deepEqual(endless, []);
    });

    test(`${file} puts nothing of the event into a script`, () => {
      const scripts = text.split('\n').filter(line => !/^\s+[\w-]+: \$\{\{ .* \}\}$/.test(line));
      assert.doesNotMatch(scripts.join('\n').replace(/^ {2}group: .*$/gm, ''), /\$\{\{/);
    });
  }
});

const PROVENANCE = (node: string, envoy: string) => {
  const parameters = { REVISION: 'abc', NODE: node, ENVOY: envoy };
  return JSON.stringify({
    predicate: { buildDefinition: { externalParameters: { parameters } } },
  });
};
const DIGEST = `@sha256:${'0'.repeat(64)}`;

/** GitHub runs a step as `bash -e`. What would publish is only tried. */
describe('the steps of a release, run by their shell', () => {
  const folder = mkdtempSync(join(tmpdir(), 'steps-'));
  after(() => rmSync(folder, { recursive: true }));
  const dist = join(folder, 'dist');
  mkdirSync(dist);
  const { jobs }: Workflow = parse(
    readFileSync(join(ROOT, '.github/workflows/release.yaml'), 'utf8'),
  );

  function run(job: string, words: string, tag = 'v1.2.3') {
    const script = jobs[job]?.steps?.find(step => step.run?.includes(words))?.run;
    assert.ok(script !== undefined, `${job} has no step with ${words}`);
    const env = {
      ...process.env,
      GITHUB_REF_NAME: tag,
      RUNNER_TEMP: folder,
      npm_config_cache: join(folder, 'npm'),
      npm_config_dry_run: 'true',
    };
    const { status, stderr } = spawnSync('bash', ['-e', '-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env,
    });
    return { isDone: status === 0, said: stderr };
  }

  for (const [tag, channel] of [
    ['v1.2.3', 'latest'],
    ['v1.2.3-rc.1', 'next'],
  ] as const)
    test(`the package of ${tag} is published as ${channel}`, () => {
      const version = tag.slice(1);
      writeFileSync(
        join(folder, 'package.json'),
        JSON.stringify({ name: 'tollwright', version, license: 'Apache-2.0' }),
      );
      execFileSync('npm', ['pack', '--pack-destination', dist], { cwd: folder, stdio: 'ignore' });
      const { isDone, said } = run('npm', 'npm publish', tag);
      assert.ok(isDone, said);
      assert.match(said, new RegExp(`with tag ${channel} and public access \\(dry-run\\)`));
    });

  test('a tag of no package is published nowhere', () => {
    assert.equal(run('npm', 'npm publish', 'v9.9.9').isDone, false);
    assert.equal(run('npm', 'npm publish', 'v1.2.3-$(exit)').isDone, false);
  });

  test('files that have changed since they were made end each job that passes them on', () => {
    const file = join(dist, 'one');
    writeFileSync(file, 'one');
    const sum = execFileSync('sha256sum', ['one'], { cwd: dist });
    writeFileSync(join(dist, 'SHA256SUMS'), sum);
    const taking = Object.keys(jobs).filter(name => !['test', 'build'].includes(name));
    assert.deepEqual(taking, ['npm', 'image', 'chart', 'github']);
    for (const job of taking) assert.ok(run(job, 'sha256sum').isDone, job);
    appendFileSync(file, '.');
    for (const job of taking) assert.ok(!run(job, 'sha256sum').isDone, job);
  });

  test('the image that is pushed is built on bases whose digests are known, or not at all', () => {
    const file = join(dist, 'tollwright-1.2.3-image.provenance.json');
    writeFileSync(file, PROVENANCE(`node:1${DIGEST}`, `envoy:2${DIGEST}`));
    const { isDone, said } = run('image', 'jq ');
    assert.ok(isDone, said);
    assert.equal(
      readFileSync(join(folder, 'arguments'), 'utf8'),
      `--build-arg=REVISION=abc\n--build-arg=NODE=node:1${DIGEST}\n--build-arg=ENVOY=envoy:2${DIGEST}\n`,
    );
    for (const lacking of [
      PROVENANCE(`node:1${DIGEST}`, 'envoy:2'),
      PROVENANCE('node:1', `e:2${DIGEST}`),
      '{}',
    ]) {
      writeFileSync(file, lacking);
      assert.ok(!run('image', 'jq ').isDone, lacking);
    }
  });
});
