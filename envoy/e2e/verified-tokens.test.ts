import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeSigningKey } from '#ext-authz/testing/hostile-provider.ts';
import { serve } from '#grpc/serve.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { goodClaims, oddTokens, randomClaims, signer } from './odd-tokens.ts';
import { request } from './request.ts';
import { type Fields, startTokenSite, type TokenSite } from './token-site.ts';
import { until } from './until.ts';

describe('tokens that proxies verify', () => {
  let site: TokenSite;
  let token: string;
  before(async () => {
    site = await startTokenSite();
    const { kid, privateKey } = site.provider.key;
    token = await signer(privateKey)({ alg: 'RS256', kid }, goodClaims(seconds()));
    await site.untilVerified(token);
  });
  after(async () => {
    await site?.stop();
    assert.doesNotMatch(site?.system.gateway.said() ?? '', /script log/);
  });

  const seconds = () => Math.floor(Date.now() / 1_000);
  /**
   * Asks both ways, the first twice, since the proxy then knows what it has verified. Returns
   * whether ext-authz was asked on the first.
   */
  const compare = async (fields: Fields, why: string, path?: string) => {
    const before = await site.checks();
    const proxied = await site.ask('proxied', fields, path);
    const again = await site.ask('proxied', fields, path);
    const asked = (await site.checks()) - before;
    assert.ok(asked === 0 || asked === 2, `${why}: asked ${asked} times of 2`);
    assert.deepEqual(again, proxied, why);
    assert.deepEqual(proxied, await site.ask('service', fields, path), why);
    return { asked: asked > 0, status: proxied.status };
  };
  const bearer = () => ({ authorization: `Bearer ${token}` });

  test('reach the service without a call, byte for byte as with one', async () => {
    const fields = {
      ...bearer(),
      cookie: 'theme=dark',
      'x-a': ['1', '2'],
      'x-sub': 'eve',
      'x-kind': 'eve',
    };
    assert.deepEqual(await compare(fields, ''), { asked: false, status: 200 });
  });

  test('are answered as ext-authz answers them, however odd they are', async () => {
    const seen = { asked: 0, passed: 0 };
    for (const [why, authorization] of await oddTokens(site, seconds())) {
      const fields = authorization === undefined ? {} : { authorization: [authorization].flat() };
      const { asked, status } = await compare(fields, why);
      if (status !== 200) assert.ok(asked, `${why}: the answer is not that of ext-authz`);
      seen[asked ? 'asked' : 'passed'] += 1;
    }
    assert.ok(seen.asked > 50 && seen.passed > 10, JSON.stringify(seen));
  });

  test('are answered alike with random claims', async () => {
    const random = seededRandom(7);
    const { kid, privateKey } = site.provider.key;
    const seen = { asked: 0, passed: 0 };
    for (let round = 0; round < 250; round++) {
      const claims = randomClaims(random, seconds());
      const header = pick([{ kid }, { kid }, { kid }, {}, { kid: 'x' }], random);
      const random_token = await signer(privateKey)({ alg: 'RS256', ...header }, claims);
      const fields = { authorization: `Bearer ${random_token}` };
      const { asked } = await compare(fields, JSON.stringify({ header, claims }));
      seen[asked ? 'asked' : 'passed'] += 1;
    }
    assert.ok(seen.asked > 50 && seen.passed > 20, JSON.stringify(seen));
  });

  for (const [what, fields, path] of [
    ['a cookie of the gateway', { cookie: 'a=1; gateway_session.login.default=x' }, 'x'],
    ['a credential header', { 'x-gateway-username': 'eve' }, 'x'],
    ['a path in two readings', {}, 'a;b/c'],
    ['an escaped path', {}, '%20'],
    ['a host of dots', { host: '..' }, 'x'],
    ["the gateway's own headers", { 'x-gateway-token-verified': 'true' }, 'a;b'],
  ] as const)
    test(`go to ext-authz with ${what}`, async () => {
      const { asked } = await compare({ ...bearer(), ...fields }, what, path);
      assert.ok(asked);
    });

  test('are not taken from other places, and headers of the gateway forge nothing', async () => {
    const forged = { 'x-gateway-token-verified': 'true', 'x-gateway-token-provider': 'x' };
    for (const [fields, path] of [
      [{}, `x?access_token=${token}`],
      [{ cookie: `access_token=${token}` }, 'x'],
      [{ 'x-authorization': `Bearer ${token}` }, 'x'],
      [{ authorization: 'Bearer x', ...forged }, 'x'],
      [forged, 'x'],
    ] as const)
      assert.deepEqual(await compare(fields, path, path), { asked: true, status: 401 });
  });

  test('that a rule has let pass are judged again by another', async () => {
    assert.deepEqual(await compare(bearer(), ''), { asked: false, status: 200 });
    assert.equal((await site.ask('stricter', bearer())).status, 403);
    assert.deepEqual(await compare(bearer(), ''), { asked: false, status: 200 });
  });

  test('pass no longer than they hold, though the proxy knows them', async () => {
    const { kid, privateKey } = site.provider.key;
    const exp = seconds() + 3;
    const claims = { ...goodClaims(seconds()), exp };
    const short = await signer(privateKey)({ alg: 'RS256', kid }, claims);
    const fields = { authorization: `Bearer ${short}` };
    assert.deepEqual(await compare(fields, ''), { asked: false, status: 200 });
    let last = 0;
    await until(async () => {
      const sent = Date.now();
      const { status } = await site.ask('proxied', fields);
      if (status === 200) last = sent;
      return status === 401 ? true : undefined;
    });
    assert.ok(last < exp * 1_000, `one passed ${last - exp * 1_000} ms late`);
  });

  test('go to ext-authz where headers would grow beyond what Envoy takes', async () => {
    const { kid, privateKey } = site.provider.key;
    const claims = { ...goodClaims(seconds()), jti: 'unknown' };
    const unknown = await signer(privateKey)({ alg: 'RS256', kid }, claims);
    const many = Object.fromEntries(Array.from({ length: 85 }, (_, n) => [`x-${n}`, 'a']));
    for (const fields of [many, { 'x-long': 'x'.repeat(50_000) }]) {
      const sent = { authorization: `Bearer ${unknown}`, ...fields };
      assert.deepEqual(await compare(sent, 'large'), { asked: true, status: 200 });
    }
  });

  test('pass without a call with any usual path and query', async () => {
    for (const path of ['', 'a/b.c', 'a?b=c&d=%20;x', "~a!$&'()+,-=:@_"])
      assert.deepEqual(await compare(bearer(), path, path), { asked: false, status: 200 });
  });

  for (const alg of ['ES256', 'ES384', 'ES512'] as const)
    test(`of ${alg} pass with the signature of their key alone, without zeros in it`, async () => {
      const { kid, privateKey, publicJwk } = await makeSigningKey(alg, alg);
      const keys = [site.provider.key.publicJwk, publicJwk];
      site.provider.behave('jwks', () => ({ body: { keys } }));
      const signed = await signer(privateKey)({ alg, kid }, goodClaims(seconds()));
      await site.untilVerified(signed);
      const [header, claims, signature = ''] = signed.split('.');
      const bytes = Buffer.from(signature, 'base64url');
      const [r, s] = [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];
      for (const zeros of [1, 3].map(count => Buffer.alloc(count))) {
        const longer = Buffer.concat([zeros, r, zeros, s]).toString('base64url');
        const fields = { authorization: `Bearer ${header}.${claims}.${longer}` };
        assert.deepEqual(await compare(fields, longer), { asked: true, status: 401 });
      }
    });

  test('of a route of Gateway API pass without a call as well', async () => {
    const port = site.system.freePort(1);
    site.system.write('gateway.yaml', gatewayOf(port, site.upstreamPort));
    const ask = async (path: string, headers: Fields) => {
      const before = await site.checks();
      const answer = await request(`http://127.0.0.1:${port}`, path, { headers });
      return { ...answer, asked: (await site.checks()) - before };
    };
    const named = () => ask('/named/x', { ...bearer(), 'x-sub': 'eve' });
    await until(async () =>
      (await named().catch(() => undefined))?.asked === 0 ? true : undefined,
    );
    const { body, status } = await named();
    assert.equal(status, 200);
    const { rawHeaders } = JSON.parse(body) as { readonly rawHeaders: readonly string[] };
    assert.deepEqual(
      rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'x-sub'),
      ['alice'],
    );
    for (const [path, headers, expected] of [
      ['/named/x', {}, [401, 1]],
      ['/named/x', { authorization: `Bearer ${token}x` }, [401, 1]],
      ['/named/a;b', bearer(), [200, 1]],
      ['/behind/x', bearer(), [200, 1]],
      ['/open/x', {}, [200, 0]],
    ] as const) {
      const { asked, status } = await ask(path, headers);
      assert.deepEqual([status, asked], expected, path);
    }
  });

  test('tell a log service none of their claims', async t => {
    const entries: unknown[] = [];
    const StreamAccessLogs = (call: NodeJS.EventEmitter) =>
      call.on('data', ({ http_logs }: Message) => entries.push(...(http_logs?.log_entry ?? [])));
    const service = await serve({
      host: '127.0.0.1',
      port: 0,
      services: { 'envoy.service.accesslog.v3.AccessLogService': { StreamAccessLogs } },
    });
    t.after(() => service.stop(100));
    site.system.write('logs.yaml', logsTo(service.port));
    await until(async () => {
      await site.ask('proxied', bearer());
      return entries.length > 0 || undefined;
    });
    const { kid, privateKey } = site.provider.key;
    for (const changes of [{}, { aud: 'another' }]) {
      const claims = { ...goodClaims(seconds()), email: 'alice@site.test', ...changes };
      const told = await signer(privateKey)({ alg: 'RS256', kid }, claims);
      await site.ask('proxied', { authorization: `Bearer ${told}` }, 'told');
    }
    const logged = () => entries.map(entry => JSON.stringify(entry)).filter(isTold);
    await until(() => logged().length === 2 || undefined);
    for (const entry of logged()) assert.doesNotMatch(entry, /alice/);
  });
});

const isTold = (entry: string) => entry.includes('/told');

type Message = { readonly http_logs?: { readonly log_entry: readonly unknown[] } | null };

function logsTo(port: number): string {
  return `apiVersion: gateway.internal/v2
kind: LogService
metadata: {name: logs}
spec: {service: "127.0.0.1:${port}", driver: http, flush_interval_byte_size: 0}
`;
}

function gatewayOf(port: number, upstream: number): string {
  const object = (kind: string, spec: string, group = 'gateway.networking.k8s.io/v1') =>
    `---\napiVersion: ${group}\nkind: ${kind}\nmetadata: {name: site}\nspec: ${spec}\n`;
  const tokens =
    '{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: tokens}}';
  const rule = (path: string, filters: string) =>
    `{matches: [{path: {value: ${path}}}], filters: [${filters}], backendRefs: [{name: localhost, port: ${upstream}}]}`;
  const rules = [rule('/named', tokens), rule('/behind', tokens), rule('/open', '')];
  return [
    object('GatewayClass', '{controllerName: gateway.internal/gateway-controller}'),
    object(
      'Gateway',
      `{gatewayClassName: site, listeners: [{name: http, port: ${port}, protocol: HTTP}]}`,
    ),
    object('HTTPRoute', `{parentRefs: [{name: site}], rules: [${rules.join()}]}`),
    object(
      'FilterPolicy',
      '{rules: [{path: /behind/*, filters: [{name: tokens}]}]}',
      'gateway.internal/v2',
    ),
  ].join('');
}
