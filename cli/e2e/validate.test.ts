import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findProblems } from '../library.ts';
import { folderOf, gateway, gatewayWith } from '../testing/gateway.ts';

const GOOD = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: good }
spec: { prefix: /good/, service: good }
`;

const MISSPELT = `${GOOD}---
apiVersion: gateway.internal/v2
kind: Mapping
metadata:
  name: bad
spec:
  prefix: /bad/
  servce: bad
`;

const WARNED = `${GOOD.replace('service: good', 'service: good, colour: red')}`;

const ELSEWHERE = `apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: { name: shop }
stringData: { tls.crt: "\${file:none}", tls.key: "\${env:NONE_SECRET}" }
---
apiVersion: v1
kind: Secret
metadata: { name: login }
stringData: { oauth2-client-secret: "\${env:NONE_SECRET}" }
---
apiVersion: gateway.internal/v2
kind: Host
metadata: { name: shop }
spec: { hostname: shop.example.com, tlsSecret: shop }
---
apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: login }
spec:
  OAuth2:
    authorizationURL: https://login.example.com
    clientID: shop
    secretName: login
    clientAuthentication: { method: JWTAssertion, jwtAssertion: { signingMethod: RS256 } }
    protectedOrigins: [{ origin: "https://shop.example.com" }]
`;

const DANGLING = `apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: edge }
spec:
  node_group: edge
  virtual_hosts:
    - { name: all, domains: ["*"], routes: [{ prefix: /, cluster: nowhere }] }
`;

function mapping(name: string, spec: string): string {
  return `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;
}

describe('gateway validate', () => {
  test('passes good resources, of a file and of a folder', async t => {
    const folder = await folderOf(t, { 'good.yaml': GOOD });
    const said = { code: 0, stdout: '1 resource good, 0 problems\n', stderr: '' };
    assert.deepEqual(await gateway('validate', folder), said);
    assert.deepEqual(await gateway('validate', join(folder, 'good.yaml')), said);
  });

  test('does not look for values that the control plane has, and says so', async t => {
    const folder = await folderOf(t, { 'elsewhere.yaml': ELSEWHERE });
    assert.deepEqual(await gateway('validate', folder), {
      code: 0,
      stdout:
        'not checked: 3 values of Secrets, from the environment and files of the control plane\n4 resources good, 0 problems\n',
      stderr: '',
    });
  });

  test('prints in each form, with the same exit code', async t => {
    const file = join(await folderOf(t, { 'misspelt.yaml': MISSPELT }), 'misspelt.yaml');
    const printed = async (...flags: readonly string[]) => {
      const { code, stdout } = await gateway('validate', file, ...flags);
      assert.equal(code, 1);
      return stdout;
    };
    const json = await printed('--json');
    assert.equal(await printed('--output', 'json'), json);
    assert.equal(await printed('--output', 'text'), await printed());
    const { problems } = JSON.parse(json);
    assert.match(
      await printed('--output', 'github'),
      /^::error file=.*misspelt\.yaml,line=10,title=/m,
    );
    const { runs } = JSON.parse(await printed('--output', 'sarif'));
    assert.equal(runs[0].results.length, problems.length);
    const wrong = await gateway('validate', file, '--output', 'xml');
    assert.match(wrong.stderr, /Allowed choices are text, json, github, sarif/);
    const both = await gateway('validate', file, '--output', 'sarif', '--json');
    assert.match(both.stderr, /'--json' cannot be used with option '--output <form>'/);
  });

  test('names file and line of each mistake, and fails', async t => {
    const folder = await folderOf(t, { 'misspelt.yaml': MISSPELT });
    const file = join(folder, 'misspelt.yaml');
    const { code, stdout } = await gateway('validate', folder);
    assert.equal(code, 1);
    assert.deepEqual(stdout.split('\n').sort(), [
      '',
      '1 resource good, 2 problems',
      `error: Mapping default/bad (${file}:10, spec.service): \`service\` is required: [http://|https://]name[.namespace][:port]`,
      `warning: Mapping default/bad (${file}:12, spec.servce): unknown field \`servce\`, did you mean \`service\`?`,
    ]);
  });

  test('passes what only has warnings', async t => {
    const folder = await folderOf(t, { 'warned.yaml': WARNED });
    const { code, stdout } = await gateway('validate', folder);
    assert.equal(code, 0);
    assert.match(stdout, /^warning: .*unknown field `colour`.*\n1 resource good, 1 problem\n$/);
  });

  test('finds what is wrong between resources', async t => {
    const folder = await folderOf(t, { 'dangling.yaml': DANGLING });
    const { code, stdout } = await gateway('validate', folder);
    assert.equal(code, 1);
    assert.match(stdout, /^error: ProxyConfig default\/edge \(.*dangling\.yaml:\d+, .*"?`?nowhere/);
  });

  test('tells programs the same as JSON', async t => {
    const folder = await folderOf(t, { 'misspelt.yaml': MISSPELT });
    const { code, stdout } = await gateway('validate', '--json', folder);
    const { resources, problems } = JSON.parse(stdout);
    assert.deepEqual([code, resources, problems.length], [1, 1, 2]);
    const { severity, file, line, field } = problems.find(
      (one: { field: string }) => one.field === 'spec.service',
    );
    assert.deepEqual(
      [severity, file, line, field],
      ['error', join(folder, 'misspelt.yaml'), 10, 'spec.service'],
    );
  });

  test('fails when there is no resource at all, in each form', async t => {
    const files = { 'empty.yaml': '', 'other.yaml': 'apiVersion: v1\nkind: Pod\n' };
    const folder = await folderOf(t, files);
    for (const path of [folder, join(folder, 'empty.yaml'), join(folder, 'other.yaml')]) {
      assert.deepEqual(await gateway('validate', path), {
        code: 1,
        stdout: `error: (${path}): there is no resource for this gateway in it\n0 resources good, 1 problem\n`,
        stderr: '',
      });
    }
    for (const output of ['json', 'github', 'sarif']) {
      const { code, stdout } = await gateway('validate', folder, '--output', output);
      assert.equal(code, 1);
      assert.match(stdout, /there is no resource for this gateway in it/);
    }
    assert.equal(findProblems([folder])[0]?.severity, 'error');
  });

  test('does not say that there is no resource where an error says why', async t => {
    const folder = await folderOf(t, { 'list.json': '[]' });
    const { code, stdout } = await gateway('validate', folder);
    assert.equal(code, 1);
    assert.match(stdout, /^error: .*a resource is a map .*\n0 resources good, 1 problem\n$/);
  });

  test('passes a file without a resource beside others', async t => {
    const folder = await folderOf(t, { 'good.yaml': GOOD, 'empty.yaml': '' });
    const paths = [join(folder, 'good.yaml'), join(folder, 'empty.yaml')];
    const { code, stdout } = await gateway('validate', ...paths);
    assert.deepEqual([code, stdout], [0, '1 resource good, 0 problems\n']);
  });

  test('reads the resources of GATEWAY_ID, and tells how many it left out', async t => {
    const prod = mapping(
      'a',
      'prefix: /a/, service: a, ambassador_id: [--apiVersion-v3alpha1-only--prod]',
    );
    const both = mapping('b', 'prefix: /b/, service: b, gateway_id: [prod, stage]');
    const auth = `apiVersion: getambassador.io/v2\nkind: AuthService\nmetadata: { name: a }\nspec: { ambassador_id: "pr\\eod" }\n`;
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${prod.replace('{ name: a }', '{ name: c }').replace('/a/', '/c/').trim().replaceAll('\n', '\n  ')}\n`;
    const folder = await folderOf(t, {
      'some.yaml': [GOOD, prod, both, auth].join('---\n'),
      'list.yaml': list,
    });
    const said = async (id: string) =>
      (await gatewayWith({ GATEWAY_ID: id }, 'validate', folder)).stdout;
    assert.equal(
      await said(''),
      [
        'left out: 2 resources for the gateway prod, while GATEWAY_ID is default',
        'left out: 1 resource for the gateway prod or stage, while GATEWAY_ID is default',
        'left out: 1 resource for the gateway pr\\u001bod, while GATEWAY_ID is default',
        '1 resource good, 0 problems\n',
      ].join('\n'),
    );
    assert.match(
      await said(' prod '),
      /^left out: 1 resource for the gateway default, while GATEWAY_ID is prod$/m,
    );
    assert.match(await said('prod'), /^3 resources good, 0 problems$/m);
    const none = await gatewayWith({ GATEWAY_ID: 'none' }, 'validate', folder, '--json');
    const { notes, problems } = JSON.parse(none.stdout);
    assert.equal(none.code, 1);
    assert.equal(notes.length, 4);
    assert.match(problems[0].message, /no resource for this gateway/);
  });

  test('says what is wrong with API_GROUPS, as the control plane does', async t => {
    const folder = await folderOf(t, { 'good.yaml': GOOD });
    const { code, stderr } = await gatewayWith({ API_GROUPS: '/v2' }, 'validate', folder);
    assert.equal(code, 1);
    assert.match(stderr, /^gateway: API_GROUPS has "\/v2": want domain names/);
    const other = await gatewayWith({ API_GROUPS: 'example.org' }, 'validate', folder);
    assert.equal(other.code, 1);
  });

  test('tries the targets with --live, and names each field that names one', async t => {
    const server = createServer((_request, response) => response.end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const text = [
      `prefix: /good/, service: "${at}"`,
      `prefix: /tls/, service: "https://${at}"`,
      'prefix: /name/, service: nosuch.invalid',
      'prefix: /port/, service: "127.0.0.1:1"',
      'prefix: /port2/, service: "127.0.0.1:1"',
      'prefix: /sds/, service: user-servcie, resolver: sds',
    ].map((spec, at) => mapping(`m${at}`, spec));
    const folder = await folderOf(t, { 'm.yaml': text.join('---\n') });
    const { code, stdout } = await gateway('validate', '--live', folder);
    const place = (at: number) =>
      `error: Mapping default/m${at} (${join(folder, 'm.yaml')}:${5 * at + 4}, spec.service):`;
    assert.equal(code, 1);
    assert.deepEqual(stdout.replaceAll(/\((ENOTFOUND|EAI_AGAIN)\)/g, '(code)').split('\n'), [
      `${place(1)} TLS with ${at} fails (wrong version number). The service speaks no TLS there: write it without \`https://\` and \`tls\`, or correct the port. Until then requests get 503`,
      `${place(2)} DNS has no address for "nosuch.invalid" (code). Correct the name, or add it to DNS. Until then requests get 503`,
      `${place(3)} 127.0.0.1:1 accepts no connection (ECONNREFUSED). Correct the address or port, or start the service. Until then requests get 503`,
      `${place(4)} 127.0.0.1:1 accepts no connection (ECONNREFUSED). Correct the address or port, or start the service. Until then requests get 503`,
      '4 targets tried',
      'not tried, for the discovery service knows where they are: user-servcie',
      '6 resources good, 4 problems',
      '',
    ]);
  });

  test('trusts no other authorities when the named ones cannot be read', async t => {
    const folder = await folderOf(t, { 'good.yaml': GOOD });
    for (const [file, reason] of [
      [join(folder, 'none.pem'), 'it does not exist, or its symbolic link leads nowhere'],
      [folder, 'EISDIR'],
    ] as const)
      assert.deepEqual(await gateway('validate', folder, '--live', '--ca-file', file), {
        code: 1,
        stdout: '',
        stderr: `gateway: --ca-file is ${file}: cannot read this: ${reason}\n`,
      });
  });

  test('ends with a sentence at a folder that holds far more than resources', async () => {
    const { code, stdout, stderr } = await gateway('validate', '/');
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(
      stderr,
      /^gateway: \/: cannot read this folder: more than 20000 files and folders are in it/,
    );
  });

  test('fails when there is no such file', async () => {
    assert.deepEqual(await gateway('validate', '/no/such/file.yaml'), {
      code: 1,
      stdout: '',
      stderr: 'gateway: /no/such/file.yaml: there is no such file or folder\n',
    });
  });
});
