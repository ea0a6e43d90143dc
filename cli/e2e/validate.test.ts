import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folderOf, gateway } from '../testing/gateway.ts';

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

const DANGLING = `apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: { name: edge }
spec:
  node_group: edge
  virtual_hosts:
    - { name: all, domains: ["*"], routes: [{ prefix: /, cluster: nowhere }] }
`;

describe('gateway validate', () => {
  test('passes good resources, of a file and of a folder', async t => {
    const folder = await folderOf(t, { 'good.yaml': GOOD });
    const said = { code: 0, stdout: '1 resource good, 0 problems\n', stderr: '' };
    assert.deepEqual(await gateway('validate', folder), said);
    assert.deepEqual(await gateway('validate', join(folder, 'good.yaml')), said);
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
