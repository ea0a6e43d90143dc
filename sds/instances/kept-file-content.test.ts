import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keptFileContent } from './kept-file-content.ts';

const CONTENT = {
  declared: new Map([['a', [{ dns: 'a.test', port: 1 }]]]),
  addresses: new Map([['a.test', ['10.0.0.1', 'fd00::1']]]),
  instances: new Map([['a', [{ address: '10.0.0.1', port: 1, hostname: 'a.test' }]]]),
};

function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'kept-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const errors: string[] = [];
  const log = { error: (_facts: object, message: string) => void errors.push(message) };
  const open = (path: string, place = join(folder, 'state')) => keptFileContent(place, path, log);
  const files = () =>
    readdirSync(join(folder, 'state'))
      .filter(name => name !== 'version.json')
      .map(name => join(folder, 'state', name));
  return { errors, files, folder, open };
}

test('what is kept of a file is read again, for its owner alone, and each file has its own', t => {
  const { errors, files, open } = setUp(t);
  assert.equal(open('/one.yaml').read(), undefined);
  open('/one.yaml').write(CONTENT);
  assert.deepEqual(open('/one.yaml').read(), CONTENT);
  assert.equal(open('/two.yaml').read(), undefined);
  assert.deepEqual(
    files().map(file => statSync(file).mode & 0o777),
    [0o600],
  );
  assert.deepEqual(errors, []);
});

test('what an earlier version kept is spelt as the file is now', t => {
  const { errors, files, open } = setUp(t);
  open('/one.yaml').write(CONTENT);
  const lists = { a: [{ address: '2001:DB8::1', port: 1 }] };
  for (const file of files())
    writeFileSync(file, JSON.stringify({ declared: lists, addresses: {}, instances: lists }));
  const { declared, instances } = open('/one.yaml').read() ?? {};
  const spelt = [{ address: '2001:db8::1', port: 1 }];
  assert.deepEqual([declared?.get('a'), instances?.get('a'), errors], [spelt, spelt, []]);
});

test('nothing is written into a state folder of a later format', t => {
  const { errors, folder, open } = setUp(t);
  open('/one.yaml').write(CONTENT);
  const state = join(folder, 'state');
  writeFileSync(join(state, 'version.json'), '{"format":1000,"version":"9"}');
  open('/two.yaml').write(CONTENT);
  assert.deepEqual(errors, ['cannot keep what the instances file /two.yaml says']);
  assert.equal(readdirSync(state).length, 2);
});

for (const text of [
  '',
  'null',
  '{}',
  '{"declared":{"a":[{"address":"10.0.0.1","port":0}]},"addresses":{},"instances":{}}',
  '{"declared":{},"addresses":{"a.test":["a"]},"instances":{}}',
  '{"declared":{},"addresses":{},"instances":{"a":[{"dns":"a.test","port":1}]}}',
])
  test(`a kept file with ${text || 'nothing'} is said, and nothing is known`, t => {
    const { errors, files, open } = setUp(t);
    open('/one.yaml').write(CONTENT);
    for (const file of files()) writeFileSync(file, text);
    assert.equal(open('/one.yaml').read(), undefined);
    assert.deepEqual(errors, ['cannot read what was kept of the instances file /one.yaml']);
  });

test('a folder that cannot be written is said once, until it can, and ends nothing', t => {
  const { errors, folder, open } = setUp(t);
  const place = join(folder, 'place');
  const kept = open('/one.yaml', place);
  const said: number[] = [];
  for (const canWrite of [false, false, true, false]) {
    rmSync(place, { recursive: true, force: true });
    if (!canWrite) writeFileSync(place, '');
    kept.write(CONTENT);
    said.push(errors.length);
  }
  assert.deepEqual(said, [1, 1, 1, 2]);
  assert.equal(errors[0], 'cannot keep what the instances file /one.yaml says');
});
