import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { describeInstances } from './describe-instances.ts';
import { describeLogin } from './describe-login.ts';
import { describeRefusals } from './describe-refusals.ts';
import { describeUsers } from './describe-users.ts';
import { startService } from './service-process.ts';
import { ada, type Services, type TestStore } from './services.ts';

/**
 * Describes what the service promises, whichever store it has. The processes are real, and seen
 * from outside.
 */
export function describeService(emptyStore: () => Promise<TestStore>): void {
  let store: TestStore;
  let pair: Services;
  const services = () => pair;

  before(async () => {
    store = await emptyStore();
    const start = (name: string) => startService({ ...store.environment, INSTANCE_NAME: name });
    const [one, two] = await Promise.all([start('one'), start('two')]);
    pair = { one, two };
  });
  after(() => Promise.all([pair.one.stop(), pair.two.stop()]));

  describeUsers(services);
  describeLogin(services);
  describeRefusals(services);
  describeInstances(emptyStore);

  test('passwords are stored as argon2id, each under its own salt', async () => {
    const { one } = services();
    await one.sendJson('PUT', '/user/salt1', ada);
    await one.sendJson('PUT', '/user/salt2', ada);
    const hashes = await store.passwordHashes();
    assert.ok(hashes.length >= 2);
    for (const hash of hashes) assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.equal(new Set(hashes).size, hashes.length);
  });

  test('no password, no hash and no body is ever logged, and each request is', () => {
    const output = pair.one.output() + pair.two.output();
    assert.doesNotMatch(output, /argon2|correct horse|Lovelace|postgres-secret/);
    const line = output.split('\n').find(text => text.includes('"/user/race"'));
    const { method, path, status, ms } = JSON.parse(line ?? '{}');
    assert.deepEqual(
      [method, path, typeof status, typeof ms],
      ['PUT', '/user/race', 'number', 'number'],
    );
  });
}
