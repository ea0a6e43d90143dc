import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type FileReading, fileSource } from './file-source.ts';
import type { Instances } from './instance.ts';
import { keptFileContent } from './kept-file-content.ts';
import type { Unresolved } from './unresolved-names.ts';

type Ports = Readonly<Record<string, readonly string[]>>;

/**
 * A file source on a temporary file that begins with `text`, or is missing, with names that are
 * resolved by hand. It may be restarted.
 */
async function setUp(t: TestContext, text?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'instances-'));
  const path = join(folder, 'instances.yaml');
  const names = new Map<string, (addresses: readonly string[]) => void>();
  const known = new Map<string, readonly string[]>();
  const timers = new Set<() => void>();
  const readings: FileReading[] = [];
  const problems: string[] = [];
  if (text !== undefined) await writeFile(path, text);
  let unresolved: Unresolved = new Map();
  let heard: Instances | undefined;
  const start = () => {
    const source = fileSource({
      path,
      kept: keptFileContent(join(folder, 'state'), path, { error: assert.fail }),
      watchName(name, onChange, before = []) {
        names.set(name, onChange);
        known.set(name, before);
        return () => names.delete(name);
      },
      onRead(reading) {
        readings.push(reading);
        problems.push(...reading.problems.map(({ line, message }) => `${line} ${message}`));
      },
      onUnresolved: services => {
        unresolved = services;
      },
      after(_ms, run) {
        timers.add(run);
        return () => timers.delete(run);
      },
    });
    return source.watch(instances => {
      heard = instances;
    });
  };
  let end = start();
  t.after(async () => {
    end();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    path,
    names,
    known,
    problems,
    readings,
    missing: () => readings.filter(({ isMissing }) => isMissing).length,
    unresolved: () => Object.fromEntries(unresolved),
    heard: () => heard && toText(heard),
    stop() {
      end();
      heard = undefined;
      readings.length = 0;
      problems.length = 0;
    },
    start() {
      end = start();
    },
    /** Lets all time pass. */
    pass() {
      const due = [...timers];
      timers.clear();
      for (const run of due) run();
    },
    async write(text: string) {
      await writeFile(`${path}.tmp`, text);
      await rename(`${path}.tmp`, path);
    },
    async hears(expected: Ports) {
      const wanted = JSON.stringify(expected);
      await until(
        () => (heard && JSON.stringify(toText(heard)) === wanted ? true : undefined),
        30_000,
        wanted,
      );
    },
    async complains(pattern: RegExp) {
      await until(() => problems.find(problem => pattern.test(problem)), 30_000, String(pattern));
    },
  };
}

function toText(instances: Instances): Ports {
  return Object.fromEntries(
    [...instances].map(([name, all]) => [name, all.map(each => `${each.address}:${each.port}`)]),
  );
}

const ONE = 'services: { a: [{ address: 10.0.0.1, port: 1 }] }';
const TWO = 'services: { a: [{ address: 10.0.0.1, port: 1 }, { address: 10.0.0.2, port: 1 }] }';

test('an instance that is added or removed is heard of', async t => {
  const it = await setUp(t);
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
  await it.write(TWO);
  await it.hears({ a: ['10.0.0.1:1', '10.0.0.2:1'] });
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
  await it.write('services: {}');
  await it.hears({});
  assert.deepEqual(it.problems, []);
});

test('without a file there is no instance until it appears; once read, a file that vanishes changes nothing', async t => {
  const it = await setUp(t);
  await it.hears({});
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
  const before = it.missing();
  await unlink(it.path);
  await until(() => (it.missing() > before ? true : undefined));
  assert.deepEqual(it.heard(), { a: ['10.0.0.1:1'] });
});

test('a broken file keeps the last good one, and its end is heard of', async t => {
  const it = await setUp(t);
  await it.write(TWO);
  await it.hears({ a: ['10.0.0.1:1', '10.0.0.2:1'] });
  await it.write('services:\n  a: [\n');
  await it.complains(/^3 /);
  assert.deepEqual(it.heard(), { a: ['10.0.0.1:1', '10.0.0.2:1'] });
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
});

test('a service that is wrong keeps what it had, the others change', async t => {
  const it = await setUp(t);
  await it.write(`services:
  a: { address: 10.0.0.1, port: 1 }
  b: { address: 10.0.0.2, port: 1 }`);
  await it.hears({ a: ['10.0.0.1:1'], b: ['10.0.0.2:1'] });
  await it.write(`services:
  a: { address: nonsense, port: 1 }
  b: { address: 10.0.0.2, port: 2 }`);
  await it.hears({ b: ['10.0.0.2:2'], a: ['10.0.0.1:1'] });
  await it.complains(/^2 services\.a\.address: want an IP address/);
});

test('the first answer waits for every name; a name brings all its addresses', async t => {
  const it = await setUp(
    t,
    `services:
  a: [{ dns: a.test, port: 80 }, { address: 10.0.0.9, port: 1 }]
  b: { dns: b.test, port: 80 }`,
  );
  await until(() => it.names.get('b.test'));
  it.names.get('a.test')?.(['10.0.0.1', 'fd00::1']);
  assert.equal(it.heard(), undefined);
  it.names.get('b.test')?.([]);
  await it.hears({ a: ['10.0.0.1:80', 'fd00::1:80', '10.0.0.9:1'], b: [] });
});

test('a service is unresolved while none of its names has an address', async t => {
  const it = await setUp(
    t,
    `services:
  a: [{ dns: a.test, port: 80 }, { dns: b.test, port: 80 }]
  b: [{ dns: b.test, port: 80 }, { address: 10.0.0.9, port: 1 }]
  c: []`,
  );
  await until(() => it.names.get('b.test'));
  for (const name of ['a.test', 'b.test']) it.names.get(name)?.([]);
  await it.hears({ a: [], b: ['10.0.0.9:1'], c: [] });
  assert.deepEqual(it.unresolved(), { a: ['a.test', 'b.test'] });
  it.names.get('b.test')?.(['10.0.0.2']);
  assert.deepEqual(it.unresolved(), {});
});

test('a file that is broken from the start is no answer, so that a restart takes nothing away', async t => {
  const it = await setUp(t, 'services: [');
  await it.complains(/./);
  assert.equal(it.heard(), undefined);
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
});

test('a file that cannot be used and was never read is waited for, but not for ever', async t => {
  const it = await setUp(t, 'services: [');
  await it.complains(/./);
  assert.equal(it.readings[0]?.hasEarlier, false);
  it.pass();
  assert.deepEqual(it.heard(), {});
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
});

const SPOILT: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'is missing': unlink,
  'is empty': path => writeFile(path, ''),
  'is half written': path => writeFile(path, TWO.slice(0, -20)),
  'is a folder': async path => {
    await unlink(path);
    await mkdir(path);
  },
  'has a service that is wrong': path => writeFile(path, 'services: { a: [{ port: 1 }] }'),
};

for (const [how, spoil] of Object.entries(SPOILT))
  test(`a restart while the file ${how} changes nothing`, async t => {
    const it = await setUp(t, TWO);
    await it.hears({ a: ['10.0.0.1:1', '10.0.0.2:1'] });
    it.stop();
    await spoil(it.path);
    it.start();
    await it.hears({ a: ['10.0.0.1:1', '10.0.0.2:1'] });
    assert.equal(it.readings[0]?.hasEarlier, true);
    await rm(it.path, { recursive: true, force: true });
    await it.write(ONE);
    await it.hears({ a: ['10.0.0.1:1'] });
  });

test('a restart while the file is written without an end goes on with what was kept', async t => {
  const it = await setUp(t, TWO);
  await it.hears({ a: ['10.0.0.1:1', '10.0.0.2:1'] });
  it.stop();
  it.start();
  it.pass();
  assert.deepEqual(it.heard(), { a: ['10.0.0.1:1', '10.0.0.2:1'] });
});

test('a service that has left the file is not back after a restart', async t => {
  const it = await setUp(t, 'services: { a: { dns: a.test, port: 1 } }');
  await until(() => it.names.get('a.test'));
  it.names.get('a.test')?.(['10.0.0.1']);
  await it.hears({ a: ['10.0.0.1:1'] });
  await it.write('services: {}');
  await it.hears({});
  it.stop();
  await unlink(it.path);
  it.start();
  await it.hears({});
  assert.equal(it.readings[0]?.hasEarlier, true);
});

test('a restart begins with the addresses that names had, and with what misspelt ones kept', async t => {
  const it = await setUp(
    t,
    `services:
  a: { dns: a.test, port: 1 }
  b: { address: 10.0.0.5, port: 1 }`,
  );
  await until(() => it.names.get('a.test'));
  it.names.get('a.test')?.(['10.0.0.1']);
  await it.hears({ a: ['10.0.0.1:1'], b: ['10.0.0.5:1'] });
  await it.write(`services:
  a: { dns: a.test, port: 1 }
  b: { dns: misspelt.test, port: 1 }`);
  await until(() => it.names.get('misspelt.test'));
  it.names.get('misspelt.test')?.([]);
  it.names.get('a.test')?.(['10.0.0.2']);
  await it.hears({ a: ['10.0.0.2:1'], b: ['10.0.0.5:1'] });
  it.pass();
  it.stop();
  it.start();
  await until(() => it.names.get('misspelt.test'));
  assert.deepEqual(it.known.get('a.test'), ['10.0.0.2']);
  it.names.get('misspelt.test')?.([]);
  assert.equal(it.heard(), undefined);
  it.names.get('a.test')?.(['10.0.0.2']);
  await it.hears({ a: ['10.0.0.2:1'], b: ['10.0.0.5:1'] });
});

test('a service that moves to a name keeps its instances until the name is resolved', async t => {
  const it = await setUp(t);
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
  await it.write('services: { a: { dns: a.test, port: 80 }, b: { address: 10.0.0.5, port: 1 } }');
  await it.hears({ a: ['10.0.0.1:1'], b: ['10.0.0.5:1'] });
  it.names.get('a.test')?.([]);
  await it.hears({ a: ['10.0.0.1:1'], b: ['10.0.0.5:1'] });
  assert.deepEqual(it.unresolved(), { a: ['a.test'] });
  it.names.get('a.test')?.(['10.0.0.2']);
  await it.hears({ a: ['10.0.0.2:80'], b: ['10.0.0.5:1'] });
  assert.deepEqual(it.unresolved(), {});
  it.names.get('a.test')?.([]);
  await it.hears({ a: [], b: ['10.0.0.5:1'] });
});

test('a name that the file no longer has is no longer watched', async t => {
  const it = await setUp(t);
  await it.write('services: { a: { dns: a.test, port: 80 } }');
  await until(() => it.names.get('a.test'));
  await it.write(ONE);
  await it.hears({ a: ['10.0.0.1:1'] });
  assert.equal(it.names.size, 0);
});
