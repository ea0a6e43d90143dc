import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Status } from '#controlplane/status/status.ts';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { type HostileProvider, startHostileProvider } from '../testing/hostile-provider.ts';
import { guardedPath } from './certified-provider.ts';

describe('what is wrong with a provider', () => {
  let system: System;
  let provider: HostileProvider;
  before(async () => {
    [system, provider] = await Promise.all([
      startSystem({ environment: { WORKERS: '2' } }),
      startHostileProvider(),
    ]);
  });
  after(async () => {
    await provider?.close();
    await system?.stop();
  });

  const port = () => Number(new URL(provider.issuer).port);
  const isAbout = ({ kind }: Status['problems'][number]) => kind === 'Filter';
  const found = () => system.statusWhen(({ problems }) => problems.some(isAbout));
  const mended = () => system.statusWhen(({ problems }) => !problems.some(isAbout));
  const resources = () =>
    `# Mended later.\n${guardedPath('site', { edge: system.edge, port: port() })}`;
  const log = () => readFileSync(join(system.state, 'logs', 'controlplane.log'), 'utf8');

  test('is told by the control plane, with file and line, before anybody logs in', async () => {
    provider.behave('discovery', () => ({
      body: { ...provider.discovery(), issuer: 'https://idp.example' },
    }));
    system.write('site.yaml', resources());
    const { problems } = await found();
    const [problem, ...more] = problems.filter(isAbout);
    assert.deepEqual(more, [], 'workers that say the same say it once');
    assert.match(problem?.file ?? '', /site\.yaml$/);
    assert.deepEqual(
      [problem?.line, problem?.name, problem?.field, problem?.severity],
      [7, 'site', 'spec.OAuth2.authorizationURL', 'error'],
    );
    assert.match(
      problem?.message ?? '',
      /of http:\/\/127\.0\.0\.1:\d+ is that of the issuer "https:\/\/idp\.example"/,
    );
    const { code, said } = await system.command(
      'status',
      '--port-offset',
      String(system.gateway.portOffset),
    );
    assert.equal(code, 1);
    assert.match(
      said,
      /^error: Filter default\/site \(.*site\.yaml:7, spec\.OAuth2\.authorizationURL\): .*idp\.example/m,
    );
    await until(async () => (await request(system.edge, '/site')).status === 502 || undefined);
  });

  test('is gone with the service that found it, and told again when that is back', async () => {
    await system.whileAway('ext-authz', mended);
    await found();
  });

  test('is told again after a restart of the control plane', async () => {
    await system.kill('controlplane');
    const { resources } = await found();
    assert.ok(resources.some(({ id }) => id === 'Filter/default/site'));
  });

  test('is told of no more when the provider is mended', async () => {
    provider.reset();
    await mended();
    await until(async () => (await request(system.edge, '/site')).status === 303 || undefined);
    assert.match(log(), /fixed: Filter default\/site /);
  });

  test('was printed by `npm start` as the control plane tells it alone', () => {
    const lines = system.gateway.said().split('\n');
    // A request that fails for it is told of as well.
    const about = lines.filter(
      line => /"https:\/\/idp\.example"/.test(line) && !/a filter failed/.test(line),
    );
    assert.ok(about.length > 0);
    for (const line of about)
      assert.match(line, /\[controlplane\] error: Filter default\/site \(.*site\.yaml:7, /);
  });

  test('is told of no more when the Filter is removed', async () => {
    provider.behave('jwks', () => ({ status: 404 }));
    system.write('keys.yaml', resources().replaceAll('site', 'keys'));
    const { problems } = await found();
    assert.match(problems.find(isAbout)?.message ?? '', /the key set .*\/jwks: status 404/);
    system.write('keys.yaml', '# nothing any more\n');
    await mended();
    await system.statusWhen(({ resources }) => resources.every(({ id }) => !id.endsWith('/keys')));
  });
});
