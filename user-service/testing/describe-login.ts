import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertAnswer, assertFailure } from './assert-answer.ts';
import type { ServiceAnswer } from './service-process.ts';
import { ada, type Services } from './services.ts';

/** Describes log in, on two instances. */
export function describeLogin(services: () => Services): void {
  describe('login', () => {
    before(() => services().one.sendJson('PUT', '/user/grace', ada));

    test('with the password gives the record', async () => {
      const { one, two } = services();
      const { uuid, resolvedname } = (await one.send('GET', '/user/grace')).body;
      const record = { fullname: ada.fullname, hostname: 'two', ok: true, resolvedname, uuid };
      assertAnswer(
        await two.sendJson('POST', '/user/grace/login', { password: ada.password }),
        200,
        record,
      );
    });

    test('with a wrong password or as an unknown user is refused with the same answer', async () => {
      const { one } = services();
      const wrong = await one.sendJson('POST', '/user/grace/login', { password: 'wrong' });
      const unknown = await one.sendJson('POST', '/user/nobody/login', { password: 'wrong' });
      assertFailure(wrong, 401, /wrong username or password/);
      const withoutDate = ({ status, headers, body }: ServiceAnswer) => ({
        status,
        headers: { ...headers, date: '' },
        body,
      });
      assert.deepEqual(withoutDate(unknown), withoutDate(wrong));
    });

    test('of an unknown user takes as long as with a wrong password', async () => {
      const { one } = services();
      // The least that each takes is its own work, which a busy machine needs more rounds to show.
      const least = { grace: Number.POSITIVE_INFINITY, nobody: Number.POSITIVE_INFINITY };
      const ratio = () => least.nobody / least.grace;
      const isEven = () => ratio() > 0.6 && ratio() < 1.6;
      for (let round = 0; round < 15 || (round < 60 && !isEven()); round += 1) {
        for (const name of ['grace', 'nobody'] as const) {
          const start = performance.now();
          await one.sendJson('POST', `/user/${name}/login`, { password: 'wrong' });
          least[name] = Math.min(least[name], performance.now() - start);
        }
      }
      assert.ok(isEven(), `unknown/wrong = ${ratio()}`);
    });
  });
}
