import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Problem } from '#resources/problem.ts';
import { type Load, startLoad } from './load.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** It has lines 1 to 6, with `spec` on line 4. */
function mapping(name: string, prefix: string, port: number): string {
  return `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec:
  prefix: ${prefix}
  service: 127.0.0.1:${port}
`;
}

/** Its path is closed, since there is no such Filter. */
const POLICY = `apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: closed }
spec: { rules: [{ path: /steady/closed, filters: [{ name: missing }] }] }
`;

type Fault = {
  readonly fault: string;
  /** Returns the faulty text made of the good one. */
  readonly broken: (good: string) => string;
  readonly line: number;
  readonly says: RegExp;
  readonly severity?: Problem['severity'];
};

const FAULTS: readonly Fault[] = [
  { fault: 'broken YAML', broken: good => `${good}\tretries: 1\n`, line: 7, says: /[Tt]ab/ },
  {
    fault: 'an unknown kind',
    broken: good => good.replace('kind: Mapping', 'kind: Maping'),
    line: 2,
    says: /unknown kind `Maping`, did you mean `Mapping`/,
  },
  {
    fault: 'an unknown field',
    broken: good => `${good}  prefx: /x\n`,
    line: 7,
    says: /unknown field `prefx`, did you mean `prefix`/,
    severity: 'warning',
  },
  {
    fault: 'a value of the wrong form',
    broken: good => good.replace('service: ', 'service: ftp://'),
    line: 6,
    says: /Cannot parse service "ftp:/,
  },
  {
    fault: 'a missing field',
    broken: good => good.replace(/ {2}service.*\n/, ''),
    line: 4,
    says: /service/,
  },
  {
    fault: 'a missing name',
    broken: good => good.replace('{ name: steady }', '{}'),
    line: 3,
    says: /`metadata.name` is required/,
  },
  {
    fault: 'another version',
    broken: good => good.replace('/v2', '/v1beta1'),
    line: 1,
    says: /v1beta1` is not read for Mapping\. Write/,
  },
];

/** Starts a program that empties the file and writes a line of the text each 50 ms. */
function writeSlowly(file: string, text: string): ChildProcess {
  const lines = 'while IFS= read -r line; do printf "%s\\n" "$line"; sleep 0.05; done > "$0"';
  const writer = spawn('sh', ['-c', lines, file], { stdio: ['pipe', 'ignore', 'inherit'] });
  writer.stdin?.end(text);
  return writer;
}

describe('with a fault in a file the system says what and where, and traffic goes on:', () => {
  let system: System;
  let upstream: Upstream;
  let load: Load;
  let good: string;
  before(async () => {
    upstream = await startUpstream('steady');
    good = mapping('steady', '/steady', upstream.port);
    system = await startSystem({ resources: { 'steady.yaml': good } });
    await until(async () => (await request(system.edge, '/steady')).status === 200 || undefined);
    load = startLoad({ base: system.edge, path: '/steady', connections: 4, perSecond: 100 });
  });
  after(async () => {
    const { failures } = await load.stop();
    await system.stop();
    await upstream.close();
    assert.deepEqual(failures, []);
  });

  const clean = () => system.statusWhen(({ problems }) => problems.length === 0);
  const problem = async (says: RegExp) => {
    const { problems } = await system.statusWhen(({ problems }) =>
      problems.some(p => says.test(p.message)),
    );
    const found = problems.find(({ message }) => says.test(message));
    assert.ok(found !== undefined);
    return found;
  };
  const statusOf = async (path: string) => (await request(system.edge, path)).status;
  const answered = (path: string, status: number) =>
    until(
      async () => (await statusOf(path)) === status || undefined,
      30_000,
      `${path} is answered ${status}`,
    );

  /** Returns what `gateway status` prints for the operator. */
  const commandSays = () => system.command('status', '--address', `127.0.0.1:${system.ports.http}`);

  /** Fails when a request has failed since the last check. */
  let seen = 0;
  function reportLoad(t: TestContext): void {
    const { failures, requests } = load.tally();
    t.diagnostic(`${requests - seen} requests, ${failures.length} failed`);
    seen = requests;
    assert.deepEqual(failures.slice(0, 5), []);
  }

  for (const { broken, fault, line, says, severity = 'error' } of FAULTS) {
    test(fault, async t => {
      system.write('steady.yaml', broken(good));
      const found = await problem(says);
      assert.deepEqual([found.severity, found.line], [severity, line]);
      assert.ok(found.file.endsWith('/steady.yaml'), found.file);
      const { code, said } = await commandSays();
      assert.ok(said.includes(`steady.yaml:${line}`), said);
      assert.equal(code, severity === 'error' ? 1 : 0);
      system.write('steady.yaml', good);
      await clean();
      reportLoad(t);
    });
  }

  test('a file of which only the beginning is written yet', async t => {
    const file = join(system.resources, 'steady.yaml');
    for (const end of [
      'apiVer',
      '/v2\n',
      'kind: Map',
      'kind: Mapping\n',
      '{ name: ste',
      '}\n',
      'spec:',
      ': /',
    ]) {
      writeFileSync(file, good.slice(0, good.indexOf(end) + end.length));
      await system.statusWhen(({ problems }) => problems.length > 0);
      writeFileSync(file, good);
      await clean();
    }
    reportLoad(t);
  });

  for (const { what, file, name } of [
    { what: 'a file', file: 'steady.yaml', name: 'steady' },
    { what: 'a new file', file: 'slow.yaml', name: 'slow' },
  ])
    test(`${what} that is written in place slowly, with its FilterPolicy at the end`, async t => {
      const policy = POLICY.replaceAll('steady', name).replace('closed }', `${name} }`);
      const padding = mapping('padding', '/padding', upstream.port);
      const whole = [mapping(name, `/${name}`, upstream.port), padding, policy].join('---\n');
      if (name === 'steady') {
        system.write(file, whole);
        await answered('/steady/closed', 500);
      }
      const statuses = new Set<number>();
      for (
        const writer = writeSlowly(join(system.resources, file), whole);
        writer.exitCode === null;
      )
        statuses.add(await statusOf(`/${name}/closed`));
      assert.ok(!statuses.has(200), [...statuses].join(' '));
      await answered(`/${name}/closed`, 500);
      await answered('/padding', 200);
      rmSync(join(system.resources, 'slow.yaml'), { force: true });
      system.write('steady.yaml', good);
      await answered('/padding', 404);
      await clean();
      reportLoad(t);
    });

  test('a file that stays empty, as a full disk leaves it, keeps what it had', async t => {
    const emptied = /^it is empty, .* Resources that it had stay in force/;
    system.write('policy.yaml', POLICY);
    await answered('/steady/closed', 500);
    writeFileSync(join(system.resources, 'policy.yaml'), '');
    await problem(emptied);
    assert.equal(await statusOf('/steady/closed'), 500);
    await system.kill('controlplane');
    assert.equal((await problem(emptied)).severity, 'warning');
    assert.equal(await statusOf('/steady/closed'), 500);
    rmSync(join(system.resources, 'policy.yaml'));
    await answered('/steady/closed', 200);
    await clean();
    reportLoad(t);
  });

  test('a reference to a cluster that is not there', async t => {
    system.write(
      'proxy-config.yaml',
      `apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: lost }
spec:
  node_group: edge
  virtual_hosts: [{ name: all, domains: ["*"], routes: [{ prefix: /lost, cluster: nowhere }] }]
`,
    );
    const found = await problem(/nowhere/);
    assert.deepEqual([found.kind, found.name, found.line], ['ProxyConfig', 'lost', 6]);
    rmSync(join(system.resources, 'proxy-config.yaml'));
    await clean();
    reportLoad(t);
  });

  test('a duplicate', async t => {
    system.write('twice.yaml', mapping('steady', '/twice', upstream.port));
    const found = await problem(/already at .*steady\.yaml:1/);
    assert.ok(found.file.endsWith('/twice.yaml'));
    // The copy may restrict what a wider Mapping serves.
    await answered('/twice', 500);
    rmSync(join(system.resources, 'twice.yaml'));
    await clean();
    reportLoad(t);
  });

  test('a folder that vanishes and comes back', async t => {
    renameSync(system.resources, `${system.resources}.away`);
    await problem(/The last resources of this folder stay in force/);
    renameSync(`${system.resources}.away`, system.resources);
    await clean();
    system.write('back.yaml', mapping('back', '/back', upstream.port));
    await answered('/back', 200);
    rmSync(join(system.resources, 'back.yaml'));
    await answered('/back', 404);
    reportLoad(t);
  });

  test('a symlink swap, as Kubernetes mounts a ConfigMap', async t => {
    const mount = join(system.resources, 'mount');
    mkdirSync(mount);
    for (const [version, prefix] of [
      ['v1', '/swap-1'],
      ['v2', '/swap-2'],
    ] as const) {
      mkdirSync(join(mount, `..${version}`));
      writeFileSync(
        join(mount, `..${version}`, 'swap.yaml'),
        mapping('swap', prefix, upstream.port),
      );
    }
    symlinkSync('..v1', join(mount, '..data'));
    symlinkSync(join('..data', 'swap.yaml'), join(mount, 'swap.yaml'));
    await answered('/swap-1', 200);
    symlinkSync('..v2', join(mount, '..data_tmp'));
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    await answered('/swap-2', 200);
    await answered('/swap-1', 404);
    rmSync(mount, { recursive: true });
    await answered('/swap-2', 404);
    reportLoad(t);
  });

  test('a new Mapping with a mistake is closed, and its traffic falls to no wider one', async t => {
    const wrong = mapping('narrow', '/steady/narrow', upstream.port);
    system.write('narrow.yaml', wrong.replace('service: ', 'service: ftp://'));
    await answered('/steady/narrow/x', 500);
    assert.equal(await statusOf('/steady/wide'), 200);
    system.write('narrow.yaml', wrong);
    await answered('/steady/narrow/x', 200);
    rmSync(join(system.resources, 'narrow.yaml'));
    await clean();
    reportLoad(t);
  });

  test('a file that was broken while the control plane was away keeps its last good version', async t => {
    await system.statusWhen(({ resources }) =>
      resources.every(({ state }) => state === 'in force'),
    );
    await system.whileAway('controlplane', async () =>
      system.write('steady.yaml', 'apiVersion: gateway.internal/v2\nkind: Mapping\nspec: [\n'),
    );
    const { resources } = await system.statusWhen(({ problems }) => problems.length > 0);
    assert.equal(resources.find(({ id }) => id === 'Mapping/default/steady')?.state, 'last good');
    system.write('steady.yaml', good);
    await clean();
    reportLoad(t);
  });
});
