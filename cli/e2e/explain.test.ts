import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startControlPlane } from '../testing/control-plane.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const RESOURCES = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: user}
spec:
  prefix: /user/
  method: GET
  service: user
  labels:
    gateway:
    - per-client: [remote_address]
    - per-tenant: [{tenant: {header: X-Tenant}}]
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: broken}
spec: {prefix: /broken/, service: 'ftp://x'}
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: {name: rates}
spec:
  domain: gateway
  limits:
  - {pattern: [{remote_address: '*'}], rate: 5, unit: second, injectResponseHeaders: [{name: X-Left, value: '{{ .RetryAfter }}'}]}
  - {name: blue, pattern: [{tenant: blue, tenant: green}], rate: 1, unit: hour}
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: {name: other}
spec: {domain: other, limits: [{pattern: [], rate: 1, unit: second}]}
`;

describe('gateway explain', () => {
  test('tells route, target, labels and limits with their places', async t => {
    const folder = await folderOf(t, { 'a.yaml': RESOURCES });
    const file = join(folder, 'a.yaml');
    const asked = [
      'GET',
      'http://shop.example.com:8080/user//x?q',
      '--from',
      '203.0.113.7',
      '--resources',
      file,
    ];
    const { code, stdout } = await gateway('explain', ...asked);
    assert.equal(code, 0);
    assert.deepEqual(stdout.replaceAll(file, 'a.yaml').split('\n'), [
      'Request',
      '  GET /user/x?q',
      '  host shop.example.com:8080, from 203.0.113.7, to the proxies of node group edge',
      'Route',
      '  Mapping default/user (a.yaml:1), virtual host *',
      'Target cluster',
      '  user',
      'The service gets',
      '  /x?q, host shop.example.com:8080',
      '  an answer must begin within 3s',
      '  1 retry: connect-failure, refused-stream, reset-before-request, retriable-headers, reset',
      'Labels in domain gateway',
      '  per-client: remote_address=203.0.113.7',
      '  per-tenant: left out, because the header x-tenant is missing',
      'Limits',
      '  rates.default-0: RateLimit default/rates (a.yaml:18, spec.limits[0])',
      '    applies to per-client, by its pattern [{remote_address: "*"}]',
      '    5 per second, Enforce',
      '    adds to the response x-left: "{{ .RetryAfter }}"',
      '  not blue: RateLimit default/rates (a.yaml:18, spec.limits[1])',
      '    of pattern [{tenant: blue, tenant: green}]: group starts with remote_address, pattern with tenant',
      '  not the limit of domain other: requests are labelled in the domains gateway and ambassador',
      'This request may pass 5 times per second, then it is answered 429.',
      '',
    ]);
  });

  test('a request without route is answered 404, and the nearest Mapping says why', async t => {
    const folder = await folderOf(t, { 'a.yaml': RESOURCES });
    const { code, stdout, stderr } = await gateway(
      'explain',
      'POST',
      '/user/',
      '--resources',
      folder,
    );
    assert.equal(code, 1);
    assert.match(
      stdout,
      /\n {2}not Mapping default\/user \(.*a\.yaml:1\): the method is POST, not GET\n/,
    );
    assert.match(stdout, /\nThis request is answered 404: no route matches it\.\n$/);
    assert.match(stderr, /^error: Mapping default\/broken \(.*a\.yaml:16, spec\.service\): /);
  });

  test('a closed route is told with its reason', async t => {
    const folder = await folderOf(t, { 'a.yaml': RESOURCES });
    const { code, stdout } = await gateway('explain', 'GET', '/broken/x', '--resources', folder);
    assert.equal(code, 1);
    assert.match(stdout, /\n {2}Mapping default\/broken \(.*a\.yaml:13\), virtual host \*\n/);
    assert.match(
      stdout,
      /\nThis request is answered 500: .*spec\.service: Cannot parse service "ftp:\/\/x"/,
    );
  });

  test('a header of the request is a label, and Host its host', async t => {
    const folder = await folderOf(t, { 'a.yaml': RESOURCES });
    const headers = ['-H', 'X-Tenant: green', '-H', 'Host: Shop:80'];
    const said = await gateway(
      'explain',
      'get',
      '/user/',
      ...headers,
      '--json',
      '--resources',
      folder,
    );
    const { rateLimits, request } = JSON.parse(said.stdout);
    assert.equal(request.host, 'Shop:80');
    assert.deepEqual(rateLimits.cases[0].groups[1], {
      domain: 'gateway',
      name: 'per-tenant',
      labels: [{ key: 'tenant', value: 'green' }],
    });
    const names = rateLimits.cases[0].applied.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['rates.default-0', 'blue']);
  });

  test('asks the running control plane, which knows what is in force', async t => {
    const address = await startControlPlane(t, await folderOf(t, { 'a.yaml': RESOURCES }));
    const asked = ['explain', 'GET', '/user/x', '-H', 'X-Tenant: blue', '--address', address];
    const { code, stdout } = await gateway(...asked);
    assert.equal(code, 0);
    assert.match(stdout, /^ {2}Mapping default\/user \(.*a\.yaml:1\), virtual host \*$/m);
    assert.match(stdout, /^ {2}blue: RateLimit default\/rates /m);
    const closed = await gateway('explain', 'GET', '/broken/x', '--address', address);
    assert.equal(closed.code, 1);
    assert.match(closed.stdout, /answered 500: .*spec\.service: Cannot parse service/);
    const elsewhere = await gateway(...asked, '--node-group', 'egde');
    assert.match(elsewhere.stderr, /^gateway: There is no node group "egde": there are .*edge/);
  });

  test('sends credentials to no other machine', async () => {
    const address = '192.0.2.1:8877';
    for (const header of ['Cookie', 'authorization']) {
      const asked = ['explain', 'GET', '/', '-H', `${header}: secret`, '--address', address];
      const { code, stderr } = await gateway(...asked);
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `gateway: the header ${header.toLowerCase()} holds credentials, which would go to ${address} without encryption: forward the port of the control plane to this machine, or name files with --resources\n`,
      );
    }
  });

  test('takes method and URL behind the paths of --resources', async t => {
    const folder = await folderOf(t, { 'a.yaml': RESOURCES });
    const last = await gateway('explain', 'GET', '/user/x', '--resources', folder);
    for (const args of [
      ['--resources', folder, 'GET', '/user/x'],
      ['GET', '--resources', folder, '/user/x'],
    ])
      assert.deepEqual(await gateway('explain', ...args), last);
  });

  test('says what to do when no control plane is there', async () => {
    const { code, stderr } = await gateway('explain', 'GET', '/', '--address', '127.0.0.1:1');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gateway: no control plane answers at 127\.0\.0\.1:1: .*, or name files with --resources$/m,
    );
    const offset = await gateway('explain', 'GET', '/', '--port-offset', '40000');
    assert.match(offset.stderr, /no control plane answers at 127\.0\.0\.1:48877:/);
  });

  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [['G T', '/'], /"G T" is not a request method/],
    [['GET', 'localhost:8080/user'], /must begin with http:\/\/, https:\/\/ or "\/"/],
    [['GET', 'http:///user'], /has no host in ASCII/],
    [['GET', '/', '-H', 'X-Tenant'], /--header must be "Name: value"/],
    [['GET', '/', '-H', 'X Tenant: s3cret'], /--header: "X Tenant" is not a header name/],
    [['GET', '/', '-H', 'Host: a', '-H', 'host: b'], /a request has one Host/],
    [['GET', '/', '-H', ':path: /x'], /:path is set by the method and the URL/],
    [['GET', '/', '--from', 'localhost'], /--from is "localhost": want the IP address/],
    [
      ['GET', '/', '--node-group', 'egde', '--resources', 'envoy/resources'],
      /no resource is for node group "egde", did you mean `edge`\?/,
    ],
    [['GET', '/', '--resources', '/nowhere'], /nowhere: there is no such file or folder/],
    [[], /^error: missing required argument 'method'$/m],
    [['GET'], /^error: missing required argument 'url'$/m],
    [['--resources', '/nowhere', '/'], /^error: missing required argument 'method'$/m],
  ];
  for (const [args, message] of mistakes) {
    test(`refuses "${args.join(' ')}" and says why`, async () => {
      const { code, stdout, stderr } = await gateway('explain', ...args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /s3cret/);
    });
  }
});
