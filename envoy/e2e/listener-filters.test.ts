import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import { askHttps, openHttp2 } from './https-request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { type Echo, startUpstream } from './upstream.ts';

const object = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const FILTER = `---
apiVersion: gateway.internal/v2
kind: Filter
metadata: {name: users}
spec: {JWT: {validAlgorithms: [none], injectRequestHeaders: [{name: X-User, value: '{{ .token.Claims.sub }}'}]}}
`;
const CHECKED =
  'filters: {requests: [{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: users}}]}';
const ISSUED = 'tls: {options: {gateway.internal/issuer: gateway}}';

const bearer = (sub: string) => ({
  authorization: `Bearer ${new UnsecuredJWT({}).setSubject(sub).encode()}`,
});

describe('Filters of an HTTPS listener', () => {
  let system: System;
  let ada: Awaited<ReturnType<typeof startUpstream>>;
  let other: Awaited<ReturnType<typeof startUpstream>>;
  const port = () => system.freePort(1);

  before(async () => {
    ada = await startUpstream('ada');
    other = await startUpstream('other');
    system = await startSystem({ resources: {} });
    const listener = (name: string, more: string) =>
      `{name: ${name}, port: ${port()}, protocol: HTTPS, ${ISSUED}${more}}`;
    const listeners = [
      listener('wide', ''),
      listener('sub', `, hostname: "*.sub.test", ${CHECKED}`),
      listener('open', ', hostname: open.sub.test'),
    ];
    const to = (upstream: { readonly port: number }, header = '') =>
      `{matches: [{headers: [${header}]}], backendRefs: [{name: localhost, port: ${upstream.port}}]}`;
    system.write(
      'site.yaml',
      [
        FILTER,
        object('GatewayClass', 'gateway', 'controllerName: gateway.internal/gateway-controller'),
        object('Gateway', 'site', `gatewayClassName: gateway, listeners: [${listeners.join()}]`),
        object(
          'HTTPRoute',
          'any',
          `parentRefs: [{name: site}], rules: [${to(ada, '{name: x-user, value: ada}')}, ${to(other)}]`,
        ),
      ].join(''),
    );
    await until(async () => (await served('open.sub.test')) === 'other' || undefined);
    await until(async () => (await served('a.sub.test', bearer('ada'))) === 'ada' || undefined);
  });
  after(async () => {
    await system?.stop();
    await ada?.close();
    await other?.close();
  });

  const ask = (sni: string, headers: Readonly<Record<string, string>> = {}) =>
    askHttps({ port: port(), sni }, '/x', headers);
  const served = async (sni: string, headers: Readonly<Record<string, string>> = {}) => {
    const { body, status } = await ask(sni, headers).catch(() => ({ body: '', status: 0 }));
    return status === 200 ? (JSON.parse(body) as Echo).hostname : status;
  };

  test('choose the route by what they set, and never by what a client sends', async () => {
    const forged = { 'x-user': 'ada', 'x-gateway-passed': 'yes' };
    assert.equal(await served('a.sub.test', bearer('ada')), 'ada');
    assert.equal(await served('b.sub.test', { ...bearer('bob'), ...forged }), 'other');
    assert.equal(await served('a.sub.test', forged), 401);
    assert.equal(await served('other.test', { 'x-user': 'ada' }), 'ada');
    assert.equal(await served('open.sub.test', { 'x-user': 'bob' }), 'other');
  });

  test('decide on no connection for another host, which is told to use another', async () => {
    const wide = await openHttp2({ port: port(), sni: 'other.test' });
    assert.equal((await wide.ask('other.test', '/x')).status, 200);
    for (const host of ['a.sub.test', 'A.Sub.test.', 'open.sub.test'])
      assert.equal((await wide.ask(host, '/x')).status, 421, host);
    wide.close();
    const sub = await openHttp2({ port: port(), sni: 'a.sub.test' });
    assert.equal((await sub.ask('a.sub.test', '/x')).status, 401);
    assert.equal((await sub.ask('b.sub.test', '/x')).status, 401, 'of the same listener');
    for (const host of ['open.sub.test', 'other.test', 'sub.test'])
      assert.equal((await sub.ask(host, '/x')).status, 421, host);
    sub.close();
    const { status } = await ask('other.test', { host: 'a.sub.test', ...bearer('ada') });
    assert.equal(status, 421, 'with a token too');
  });

  test('close their listener alone while ext-authz is down', async () => {
    await system.whileAway('ext-authz', async () => {
      assert.equal(await served('a.sub.test', bearer('ada')), 503);
      assert.equal(await served('open.sub.test'), 'other');
      assert.equal(await served('other.test'), 'other');
    });
    await until(async () => (await served('a.sub.test', bearer('ada'))) === 'ada' || undefined);
  });
});
