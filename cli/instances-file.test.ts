import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keptFileContent } from '../sds/instances/kept-file-content.ts';
import { instancesFile } from './instances-file.ts';

const STATE = '/no/state';

function fileOf(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'services-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'services.yaml');
  writeFileSync(file, content);
  return file;
}

test('services of your own are named by the absolute path of their file', t => {
  const file = fileOf(t, 'services: { search: { dns: search.internal, port: 9000 } }');
  assert.equal(instancesFile(relative(process.cwd(), file), STATE), file);
});

test('a mistake in them keeps the gateway from starting, and is shown with its line', t => {
  const file = fileOf(t, 'services:\n  search: { dns: search.internal }\n');
  assert.throws(() => instancesFile(file, STATE), {
    message: new RegExp(`^${file}:2: services\\.search`),
  });
});

test('a file that is not there is an error that says what to do', () => {
  assert.throws(() => instancesFile('/no/services.yaml', STATE), {
    message:
      /^Cannot read the services in \/no\/services\.yaml: ENOENT.* Name another file with --services$/,
  });
});

test('a file that is broken or gone keeps no gateway from starting that has read it before', t => {
  const file = fileOf(t, 'services: [');
  const state = join(dirname(file), 'state');
  const content = { declared: new Map(), addresses: new Map(), instances: new Map() };
  keptFileContent(state, file, { error: assert.fail }).write(content);
  assert.equal(instancesFile(file, state), file);
  rmSync(file);
  assert.equal(instancesFile(file, state), file);
  assert.throws(() => instancesFile(`${file}.other`, state), /ENOENT/);
});
