import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import {
  type Ask,
  type CompiledEnvoy,
  startCompiled,
} from '#controlplane/compile/e2e/compiled-envoy.ts';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import {
  type RateLimitStub,
  startRateLimitStub,
} from '#controlplane/compile/e2e/rate-limit-stub.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';
import { toEnvoyRequest } from '../envoy-request.ts';
import { labelGroups } from '../label-groups.ts';
import { listenerSettings } from '../listener-settings.ts';
import { virtualHostsOf } from '../route-configuration.ts';
import { matchRoute } from '../route-match.ts';

let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let service: RateLimitStub;
let envoy: CompiledEnvoy;
let yaml: string;

before(async () => {
  [upstream, service] = await Promise.all([startEchoServer('up'), startRateLimitStub()]);
  yaml = RESOURCES(upstream.address, service.address);
  envoy = await startCompiled(yaml);
});

after(async () => {
  await envoy.stop();
  await Promise.all([service.stop(), upstream.close()]);
});

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const RESOURCES = (upstream: string, service: string) =>
  [
    document(
      'Module',
      'gateway',
      '{config: {default_labels: {gateway: {defaults: [remote_address, {agent: {header: User-Agent}}]}}}}',
    ),
    document('RateLimitService', 'limits', `{service: '${service}', timeout_ms: 2000}`),
    document(
      'Mapping',
      'every',
      `{prefix: /every/, service: '${upstream}', labels: {gateway: [{all: [source_cluster, destination_cluster, remote_address,
        bare, {generic_key: '100%'}, {path: {header: ':path'}}, {host: {header: Host}}, {method: {header: ':method'}}]}]}}`,
    ),
    document(
      'Mapping',
      'several',
      `{prefix: /several/, service: '${upstream}', labels: {gateway: [{a: [a]}, {b: [{tenant: {header: x-tenant}}, {accept: {header: Accept}}]}]}}`,
    ),
    document('Mapping', 'plain', `{prefix: /plain/, service: '${upstream}'}`),
    document('Mapping', 'refused', `{prefix: /refused/, service: 'ftp://x'}`),
  ].join('');

const AGENT = { 'user-agent': 'me' };
const ASKED: readonly (readonly [string, Ask])[] = [
  ['/every/a//../b%41?q=1', { headers: AGENT, host: 'Shop.example.com:80' }],
  ['/every/', { headers: AGENT, method: 'POST' }],
  ['/every/', {}],
  ['/several/', { headers: AGENT }],
  ['/several/', { headers: { ...AGENT, 'x-tenant': ['first', 'second'], accept: ['a', 'b'] } }],
  ['/several/', { headers: { ...AGENT, 'x-tenant': '', accept: '' } }],
  ['/several/', { headers: { ...AGENT, 'x-tenant': ' blue ', accept: '' } }],
  ['/several/', { headers: { 'x-tenant': 'blue' } }],
  ['/plain/', { headers: AGENT }],
  ['/plain/', {}],
  ['/refused/', { headers: AGENT }],
  ['/nowhere', { headers: AGENT }],
];

for (const [path, ask] of ASKED) {
  test(`Envoy sends the groups that are told, for ${path} with ${JSON.stringify(ask)}`, async () => {
    service.asked();
    await envoy.ask(path, ask);
    const sent = service.asked().flatMap(({ descriptors }) => descriptors);
    assert.deepEqual(told(path, ask), sent);
  });
}

/** Formats groups as the stub does. */
function told(
  target: string,
  { method = 'GET', host = 'localhost', headers = {} }: Ask,
): readonly string[] {
  const compiled = compile(resourceSetOf(yaml).resources, 'edge', compileOptions({}));
  const settings = listenerSettings(compiled);
  assert.ok(settings);
  const fields = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map(value => ({ name, value: Buffer.from(value.trim(), 'latin1').toString() })),
  );
  const request = { method, authority: host, target, headers: fields, from: '127.0.0.1' };
  const seen = toEnvoyRequest(request, settings);
  assert.ok('headers' in seen);
  const match = matchRoute(virtualHostsOf(compiled), seen);
  if (match === undefined) return [];
  const cluster = match.route.route?.cluster ?? '';
  return labelGroups(match, { request: seen, nodeGroup: 'test', cluster }, 0).flatMap(group =>
    'labels' in group ? [group.labels.map(({ key, value }) => `${key}=${value}`).join(', ')] : [],
  );
}
