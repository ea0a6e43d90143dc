import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertFailure } from './assert-answer.ts';
import { ada, type Services } from './services.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const TEN_MEGABYTES = Buffer.alloc(10_000_000, 'x');

/** Describes what a client does wrong. */
export function describeRefusals(services: () => Services): void {
  describe('what is wrong is refused in plain words:', () => {
    const put = JSON.stringify(ada);
    const refusals: [
      string,
      string,
      string,
      Record<string, string>,
      string | Buffer | undefined,
      number,
      RegExp,
    ][] = [
      ['an unknown user', 'GET', '/user/unknown', {}, undefined, 404, /no user of this name/],
      ['an unknown path', 'GET', '/users', {}, undefined, 404, /nothing at this path/],
      ['a path below a user', 'GET', '/user/ada/x', {}, undefined, 404, /nothing at this path/],
      ['a trailing slash', 'GET', '/user/ada/', {}, undefined, 404, /nothing at this path/],
      ['no username', 'GET', '/user/', {}, undefined, 404, /nothing at this path/],
      ['a username with a space', 'GET', '/user/a%20b', {}, undefined, 400, /a username is/],
      ['a username with a slash', 'PUT', '/user/a%2Fb', JSON_TYPE, put, 400, /a username is/],
      [
        'a username of 65 characters',
        'PUT',
        `/user/${'x'.repeat(65)}`,
        JSON_TYPE,
        put,
        400,
        /a username is/,
      ],
      ['a user called health', 'PUT', '/user/health', JSON_TYPE, put, 400, /"health" is reserved/],
      [
        'a login as health',
        'POST',
        '/user/health/login',
        JSON_TYPE,
        put,
        400,
        /"health" is reserved/,
      ],
      [
        'a malformed encoding',
        'GET',
        '/user/%zz',
        {},
        undefined,
        400,
        /malformed percent-encoding/,
      ],
      [
        'an encoding that is not UTF-8',
        'GET',
        '/user/%ff',
        {},
        undefined,
        400,
        /malformed percent-encoding/,
      ],
      ['no content type', 'PUT', '/user/x', {}, put, 415, /application\/json/],
      [
        'a form',
        'PUT',
        '/user/x',
        { 'content-type': 'application/x-www-form-urlencoded' },
        'a=b',
        415,
        /application\/json/,
      ],
      ['no body', 'PUT', '/user/x', JSON_TYPE, undefined, 400, /the body is empty/],
      ['broken JSON', 'PUT', '/user/x', JSON_TYPE, put.slice(0, -1), 400, /not valid JSON/],
      [
        'binary garbage',
        'PUT',
        '/user/x',
        JSON_TYPE,
        Buffer.from([0xff, 0, 0x80]),
        400,
        /not valid UTF-8/,
      ],
      ['an array', 'PUT', '/user/x', JSON_TYPE, '[]', 400, /JSON object/],
      [
        'no full name',
        'PUT',
        '/user/x',
        JSON_TYPE,
        '{"password":"a"}',
        400,
        /"fullname" is missing/,
      ],
      [
        'no password',
        'PUT',
        '/user/x',
        JSON_TYPE,
        '{"fullname":"a"}',
        400,
        /"password" is missing/,
      ],
      [
        'a login without password',
        'POST',
        '/user/ada/login',
        JSON_TYPE,
        '{}',
        400,
        /"password" is missing/,
      ],
      [
        'an empty password',
        'PUT',
        '/user/x',
        JSON_TYPE,
        '{"fullname":"a","password":""}',
        400,
        /1 to 1024/,
      ],
      [
        'a full name with NUL',
        'PUT',
        '/user/x',
        JSON_TYPE,
        '{"fullname":"\\u0000","password":"a"}',
        400,
        /U\+0000/,
      ],
      [
        'half a surrogate pair',
        'PUT',
        '/user/x',
        JSON_TYPE,
        '{"fullname":"\\ud800","password":"a"}',
        400,
        /surrogate/,
      ],
      ['a body over 16 KiB', 'PUT', '/user/x', JSON_TYPE, ' '.repeat(16_385), 413, /16384 bytes/],
    ];
    for (const [name, method, path, headers, body, status, error] of refusals) {
      test(`${name} (${status})`, async () => {
        const { one } = services();
        assertFailure(
          await one.send(method, path, { headers, ...(body && { body }) }),
          status,
          error,
        );
      });
    }

    for (const [method, path, allowed] of [
      ['DELETE', '/user/ada', 'GET, HEAD, PUT'],
      ['OPTIONS', '/user/ada', 'GET, HEAD, PUT'],
      ['POST', '/user/health', 'GET, HEAD'],
      ['GET', '/user/ada/login', 'POST'],
    ] as const) {
      test(`${method} ${path} (405)`, async () => {
        const { one } = services();
        const answer = await one.send(method, path);
        assertFailure(answer, 405, /not allowed here/);
        assert.equal(answer.headers.allow, allowed);
      });
    }

    test('a body of exactly 16 KiB is read', async () => {
      const { one } = services();
      const body = put.padEnd(16_384);
      assert.equal(
        (await one.send('PUT', '/user/padded', { headers: JSON_TYPE, body })).status,
        201,
      );
    });

    for (const [name, headers] of [
      ['with its length', {}],
      ['in chunks', { 'transfer-encoding': 'chunked' }],
      ['that asks first', { expect: '100-continue' }],
    ] as const) {
      test(`10 MB ${name}: the client hears of it while it sends, the connection closes, others go on`, async () => {
        const { one, two } = services();
        const [refused, other] = await Promise.all([
          one.send('PUT', '/user/big', {
            headers: { ...JSON_TYPE, ...headers },
            body: TEN_MEGABYTES,
          }),
          one.send('GET', '/user/health'),
        ]);
        assertFailure(refused, 413, /16384 bytes/);
        assert.equal(refused.headers.connection, 'close');
        assert.equal(other.status, 200);
        assert.equal((await two.send('GET', '/user/big')).status, 404);
      });
    }
  });
}
