import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from './service-process.ts';
import { ada, type TestStore } from './services.ts';

/** Describes how instances begin, share a store, and end. */
export function describeInstances(emptyStore: () => Promise<TestStore>): void {
  const start = (name: string, { environment }: TestStore) =>
    startService({ ...environment, INSTANCE_NAME: name });

  test('eight instances boot at once on an empty store, and share it, and what they stored survives them', async () => {
    const fresh = await emptyStore();
    const names = Array.from({ length: 8 }, (_, i) => `eight-${i}`);
    const services = await Promise.all(names.map(name => start(name, fresh)));
    const answers = await Promise.all(
      services.map(service => service.sendJson('PUT', '/user/shared', ada)),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(7).fill(200), 201]);
    for (const service of services) assert.doesNotMatch(service.output(), /"level":[456]0/);
    assert.deepEqual(await Promise.all(services.map(service => service.stop())), Array(8).fill(0));

    const later = await start('later', fresh);
    const found = await later.send('GET', '/user/shared');
    await later.stop();
    assert.deepEqual([found.status, found.body.uuid], [200, answers[0]?.body.uuid]);
  });

  test('SIGTERM finishes the requests in flight, then the process exits 0', async () => {
    const service = await start('leaving', await emptyStore());
    const login = service.sendJson('PUT', '/user/leaving', ada);
    await service.send('GET', '/user/health'); // by now the PUT has arrived
    const code = service.stop();
    assert.equal((await login).status, 201);
    assert.equal(await code, 0);
  });

  test('an instance whose supervisor is gone exits', async () => {
    const service = await start('orphan', await emptyStore());
    assert.equal(await service.disconnect(), 0);
  });
}
