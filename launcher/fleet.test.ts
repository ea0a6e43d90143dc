import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Fleet } from './fleet.ts';
import { instancesFile } from './instance-files.ts';
import type { Layout } from './parts.ts';
import { portsAt } from './ports.ts';

/** Returns a fleet without instances, whose file an earlier run, or an operator, has written. */
function setUp(t: TestContext, content?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'instances.yaml');
  if (content !== undefined) writeFileSync(file, content);
  const state = {
    path: folder,
    lock: '',
    logs: '',
    bootstrap: '',
    resources: '',
    demo: '',
    databaseFile: '',
  };
  const layout: Layout = {
    ...{
      node: '',
      envoy: '',
      resources: '',
      demo: false,
      provider: false,
      environment: {},
    },
    ...{ ports: portsAt(0), portOffset: 0, state: { ...state, sockets: '', instancesFile: file } },
  };
  const said: string[] = [];
  const start = () => assert.fail('no instance is wanted');
  const fleet = new Fleet({ layout, start, now: () => 0, say: line => said.push(line) });
  return { fleet, file, said };
}

for (const content of [
  'services: { search: { dns: search.internal, port: 9000 } }',
  `${instancesFile(0, [1])}  search: { dns: search.internal, port: 9000 }\n`,
  'services:\n  search: [',
])
  test(`what an operator wrote into the file of the fleet is kept: ${JSON.stringify(content)}`, t => {
    const { fleet, file, said } = setUp(t, content);
    fleet.publish();
    assert.equal(readFileSync(file, 'utf8'), instancesFile(0, []));
    assert.equal(readFileSync(`${file}.edited`, 'utf8'), content);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /instances\.yaml\.edited: name a file of yours with --services$/);
  });

for (const content of [undefined, instancesFile(0, [1, 2]), 'services:\n  user-service: []\n'])
  test(`what only the fleet has written is replaced without a word: ${JSON.stringify(content)}`, t => {
    const { fleet, file, said } = setUp(t, content);
    fleet.publish();
    assert.equal(readFileSync(file, 'utf8'), instancesFile(0, []));
    assert.equal(existsSync(`${file}.edited`), false);
    assert.deepEqual(said, []);
  });

test('a fleet that has stopped starts no instance', async t => {
  const { fleet } = setUp(t);
  await fleet.stop();
  await assert.rejects(
    fleet.scale(0, () => {}),
    /the gateway is stopping/,
  );
});
