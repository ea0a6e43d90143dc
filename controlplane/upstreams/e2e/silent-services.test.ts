import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { request } from '#envoy/e2e/request.ts';
import { statusWhen } from '#envoy/e2e/status-when.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import type { Problem } from '#resources/problem.ts';

const document = (kind: string, name: string, spec: string) =>
  `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec} }\n---\n`;

const SITE = [
  document(
    'Mapping',
    'site',
    'prefix: /, service: "127.0.0.1:1", labels: { gateway: [{ all: [site] }] }',
  ),
  document(
    'RateLimit',
    'none',
    'domain: gateway, limits: [{ pattern: [{ generic_key: site }], rate: 0, unit: hour }]',
  ),
  document('Filter', 'token', 'JWT: { jwksURI: "http://127.0.0.1:1/" }'),
  document('FilterPolicy', 'p', 'rules: [{ path: /closed, filters: [{ name: token }] }]'),
].join('');

describe('a service of the gateway that hangs is told, until it answers', {
  concurrency: true,
}, () => {
  let system: System;
  before(async () => {
    system = await startSystem({ instances: 0, resources: { 'site.yaml': SITE } });
  });
  after(() => system?.stop());

  for (const { name, path, consequence } of [
    { name: 'ratelimit-service', path: '/open', consequence: 'limits are not counted' },
    {
      name: 'ext-authz',
      path: '/closed',
      consequence: 'requests to routes that a rule may match get 503',
    },
  ])
    test(name, async t => {
      const told = ({ problems }: { readonly problems: readonly Problem[] }) =>
        problems.find(each => each.name === name && / get no answer in time/.test(each.message));
      /** Clients go on asking meanwhile. */
      const ask = async () => {
        await request(system.edge, path);
        return system.status();
      };
      const pid = (await system.pid(name)) ?? 0;
      t.after(() => process.kill(pid, 'SIGCONT'));
      process.kill(pid, 'SIGSTOP');
      const { message, severity, since } =
        told(await statusWhen(ask, status => told(status) !== undefined)) ?? {};
      assert.equal(
        message,
        `node group "edge": nearly all calls get no answer in time. Look at its log, and restart it if it hangs. Until then ${consequence}`,
      );
      assert.deepEqual([severity, typeof since], ['warning', 'string']);
      process.kill(pid, 'SIGCONT');
      await statusWhen(ask, status => told(status) === undefined);
    });

  test('sds, which no request asks', async t => {
    const pid = (await system.pid('sds')) ?? 0;
    t.after(() => process.kill(pid, 'SIGCONT'));
    process.kill(pid, 'SIGSTOP');
    const away = ({ kind, name, message }: Problem) =>
      kind === 'Service' && name === 'sds' && /^it is not connected/.test(message);
    await system.statusWhen(({ problems }) => problems.some(away), 60_000);
    process.kill(pid, 'SIGCONT');
    await system.statusWhen(({ problems }) => !problems.some(away));
  });
});
