import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { instancesFile } from './instances-file.ts';

function fileOf(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'services-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'services.yaml');
  writeFileSync(file, content);
  return file;
}

test('services of your own are named by the absolute path of their file', t => {
  const file = fileOf(t, 'services: { search: { dns: search.internal, port: 9000 } }');
  assert.equal(instancesFile(relative(process.cwd(), file)), file);
});

test('a mistake in them keeps the gateway from starting, and is shown with its line', t => {
  const file = fileOf(t, 'services:\n  search: { dns: search.internal }\n');
  assert.throws(() => instancesFile(file), {
    message: new RegExp(`^${file}:2: services\\.search`),
  });
});

test('a file that is not there is an error that says what to do', () => {
  assert.throws(() => instancesFile('/no/services.yaml'), {
    message:
      /^Cannot read the services in \/no\/services\.yaml: ENOENT.* Name another file with --services$/,
  });
});
