import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Status } from '#controlplane/status/status.ts';
import { askHttps } from '#envoy/e2e/https-request.ts';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { startUpstream, type Upstream } from '#envoy/e2e/upstream.ts';
import { freePort } from '#grpc/testing/free-port.ts';

const document = (kind: string, name: string, spec: object) =>
  `${JSON.stringify({ apiVersion: 'gateway.internal/v2', kind, metadata: { name }, spec })}\n---\n`;
const protect = (path: string, more: object = {}) => ({
  path,
  filters: [{ name: 'tokens', ...more }],
});
const policy = (name: string, ...rules: readonly object[]) =>
  document('FilterPolicy', name, { rules });

describe('while the paths of a site are protected by a FilterPolicy', () => {
  let system: System;
  let upstream: Upstream;
  const route = (name: string, more: object = {}, prefix = `/${name}/`) =>
    document('Mapping', name, { prefix, service: `127.0.0.1:${upstream.port}`, ...more });
  const filter = () =>
    document('Filter', 'tokens', {
      JWT: { jwksURI: `http://127.0.0.1:${upstream.port}/keys`, issuer: 'https://idp.test' },
    });
  const shop = () => route('orders') + policy('shop', protect('/orders/*'));

  before(async () => {
    upstream = await startUpstream('upstream');
    system = await startSystem({ resources: { 'site.yaml': filter() + shop() } });
  });
  after(async () => {
    await system.stop();
    await upstream.close();
  });

  /**
   * Writes the site. The Filter lacks its keys, which no request here gets to. Returns what each
   * path answers without a token, when all has settled.
   */
  async function answers(text: string, said: RegExp | undefined, ...paths: readonly string[]) {
    system.write('site.yaml', filter() + text);
    const status = await system.statusWhen(
      ({ problems, resources }) =>
        resources.every(({ state }) => state !== 'trying') &&
        (said === undefined
          ? problems.every(({ kind, severity }) => kind === 'Filter' || severity !== 'error')
          : problems.some(({ message }) => said.test(message))),
    );
    const found = await Promise.all(paths.map(path => request(system.edge, path)));
    return { status, codes: found.map(each => each.status) };
  }

  const statesOf = ({ resources }: Status, name: string) =>
    resources
      .filter(({ id }) => id.includes(`/${name}`))
      .map(({ id, state }) => `${id.replace(/@.*\//, '@')} ${state}`);
  const settled = async () => {
    const { codes } = await answers(shop(), undefined, '/orders/x');
    assert.deepEqual(codes, [401]);
  };

  test('a typo in the policy opens no path that it was to cover', async () => {
    await settled();
    const { codes, status } = await answers(
      route('orders') +
        route('payroll') +
        policy('shop', protect('/orders/*', { onDeny: 'brake' }), protect('/payroll/*')),
      /path \/payroll\/\* of host \* answers 500/,
      ...['/orders/x', '/payroll/x', '/payroll/'],
    );
    assert.deepEqual(codes, [401, 500, 500]);
    assert.deepEqual(statesOf(status, 'shop'), ['FilterPolicy/default/shop last good']);
  });

  test('a typo in a Mapping that moves with its rule opens no path', async () => {
    await settled();
    const { codes, status } = await answers(
      route('orders', { timeout_ms: 'abc' }, '/b/') + policy('shop', protect('/b/*')),
      /its last good version does not stay in force/,
      ...['/orders/x', '/b/x'],
    );
    assert.deepEqual(codes, [404, 401]);
    assert.deepEqual(statesOf(status, 'orders'), ['Mapping/default/orders closed']);
  });

  test('a typo in a route that moves with its rule, or with its name, opens nothing', async () => {
    const port = await freePort();
    const of = (kind: string, name: string, spec: object) =>
      document(kind, name, spec).replace('gateway.internal/v2', 'gateway.networking.k8s.io/v1');
    const httpRoute = (name: string, hostname: string, rule: object) =>
      of('HTTPRoute', name, {
        parentRefs: [{ name: 'g' }],
        hostnames: [hostname],
        rules: [{ backendRefs: [{ name: '127.0.0.1', port: upstream.port }], ...rule }],
      });
    const gateway =
      of('GatewayClass', 'ours', { controllerName: 'gateway.internal/gateway-controller' }) +
      of('Gateway', 'g', {
        gatewayClassName: 'ours',
        listeners: [{ name: 'http', port, protocol: 'HTTP' }],
      });
    const site = (host: string, name: string, rule: object = {}) =>
      gateway +
      httpRoute('by-host', host, rule) +
      httpRoute('by-name', 'name.test', { ...rule, name }) +
      policy('by-host', { host, filters: [{ name: 'tokens' }] }) +
      document('FilterPolicy', 'by-name', {
        targetRefs: [{ kind: 'HTTPRoute', name: 'by-name', sectionName: name }],
        filters: [{ name: 'tokens' }],
      });
    const codes = (...hosts: readonly string[]) =>
      Promise.all(
        hosts.map(async host => {
          const answer = await request(`http://127.0.0.1:${port}`, '/x', { headers: { host } });
          return answer.status;
        }),
      );
    await answers(site('old.test', 'one'), undefined);
    await until(async () => (await codes('old.test'))[0] === 401 || undefined, 10_000, '401');
    assert.deepEqual(await codes('old.test', 'name.test'), [401, 401]);
    const { status } = await answers(
      site('new.test', 'two', { filters: [{ type: 'Nope' }] }),
      /its last good version does not stay in force/,
    );
    await until(async () => (await codes('name.test'))[0] === 500 || undefined, 10_000, '500');
    assert.deepEqual(await codes('old.test', 'new.test', 'name.test'), [404, 401, 500]);
    assert.deepEqual(statesOf(status, 'by-host').sort(), [
      'FilterPolicy/default/by-host in force',
      'HTTPRoute/default/by-host closed',
    ]);
  });

  test('a copy of the policy that kept its name opens no path', async () => {
    await settled();
    const { codes, status } = await answers(
      shop() + route('payroll') + policy('shop', protect('/payroll/*')),
      /path \/payroll\/\* of host \* answers 500/,
      ...['/orders/x', '/payroll/x'],
    );
    assert.deepEqual(codes, [401, 500]);
    assert.deepEqual(statesOf(status, 'shop'), [
      'FilterPolicy/default/shop in force',
      'FilterPolicy/default/shop@site.yaml:9 closed',
    ]);
  });

  test('a policy whose `kind` is misspelt opens no path', async () => {
    for (const wrong of ['"Kind":"FilterPolicy"', '"kind":""', '"kind":["FilterPolicy"]']) {
      await settled();
      const { codes } = await answers(
        shop() +
          route('payroll') +
          policy('pay', protect('/payroll/*')).replace('"kind":"FilterPolicy"', wrong),
        /path \/payroll\/\* of host \* answers 500/,
        ...['/orders/x', '/payroll/x'],
      );
      assert.deepEqual(codes, [401, 500], wrong);
    }
  });

  /**
   * Writes the site. Waits until a name answers so without TLS, and over TLS without a client
   * certificate. A certificate takes a moment.
   */
  async function nameAnswers(
    text: string,
    said: RegExp | undefined,
    name: string,
    wanted: readonly unknown[],
  ) {
    await answers(text, said);
    const over = { port: system.ports.edgeTls, sni: name };
    await until(
      async () => {
        const [plain, tls] = await Promise.all([
          request(system.edge, '/free/', { headers: { host: name } }),
          askHttps(over, '/free/').catch(() => ({ status: 'none' })),
        ]);
        return isDeepStrictEqual([plain.status, tls.status], wanted) || undefined;
      },
      30_000,
      `${name}: ${wanted}`,
    );
  }

  const host = (name: string, hostname: string, more: object = {}) =>
    document('Host', name, { hostname, ...more });
  const context = (name: string, hosts: readonly string[]) =>
    document('TLSContext', name, { hosts, ca_secret: 'clients', cert_required: true });
  const TLS = { tls: { issuer: 'gateway' } };
  const CLOSED = [500, 'none'];

  test('a demand for client certificates is not lost beside the `tls` of the Host', async () => {
    const site = route('free') + host('priv', 'priv.test', TLS);
    await nameAnswers(site, undefined, 'priv.test', [301, 200]);
    const lacks = /lacks what TLSContext .* demands of the clients of "priv\.test"/;
    for (const [name, hosts] of [
      ['c', ['priv.test']],
      ['priv-context', []],
    ] as const)
      await nameAnswers(site + context(name, hosts), lacks, 'priv.test', CLOSED);
  });

  test('a second Host, TLSContext or Mapping of one name opens nothing to a wider one', async () => {
    const wide = route('free') + host('site', '*', TLS);
    const copied = /is already at .*, which counts\. What this one covers beyond that answers 500/;
    const second = host('site', 'priv.test', {
      ...TLS,
      requestPolicy: { insecure: { action: 'Reject' } },
    });
    await nameAnswers(wide + second, copied, 'priv.test', CLOSED);
    const both = host('priv', 'priv.test', TLS) + context('c', []) + context('c', ['priv.test']);
    await nameAnswers(wide + both, copied, 'priv.test', CLOSED);
    const narrow = route('free') + route('free', {}, '/free/priv/');
    await answers(narrow, /^Mapping default\/free is already at .* answers 500/);
    // Nothing tells when the Hosts have gone from the proxies.
    await until(async () => {
      const paths = ['/free/priv/x', '/free/x'];
      const found = await Promise.all(paths.map(path => request(system.edge, path)));
      return (
        isDeepStrictEqual(
          found.map(each => each.status),
          [500, 200],
        ) || undefined
      );
    });
  });

  test('of two Hosts of one name, what one demands is not lost by the other', async () => {
    const site = route('free') + host('a', 'priv.test');
    await nameAnswers(site, undefined, 'priv.test', [200, 'none']);
    const lacks = /That one counts, but it lacks what this one demands of clients/;
    await nameAnswers(site + host('b', 'priv.test', TLS), lacks, 'priv.test', CLOSED);
  });
});
