import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFile } from './parse.ts';
import { DEFAULT_PARSE_OPTIONS } from './parse-options.ts';

/** The warnings of a document that is served. */
function warnings(kind: string, spec: string): readonly string[] {
  const text = `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: n }\nspec: ${spec}\n`;
  const { problems, resources } = parseFile('f.yaml', text, DEFAULT_PARSE_OPTIONS);
  assert.equal(resources.length, 1, JSON.stringify(problems));
  return problems.map(({ field, message }) => `${field}: ${message}`);
}

const upgrade = (name: string) =>
  warnings('Mapping', `{ prefix: /a/, service: a, allow_upgrade: [${JSON.stringify(name)}] }`);

describe('what is right but odd is told of', () => {
  for (const name of ['websockets', 'WebSockets', 'web-socket', 'webtransprot'])
    test(`the upgrade ${name}`, () => {
      const [line = '', ...more] = upgrade(name);
      assert.deepEqual(more, []);
      assert.match(
        line,
        /^spec\.allow_upgrade\[0\]: no client is known .*, did you mean `web(socket|transport)`\?$/,
      );
    });

  for (const name of ['websocket', 'WebSocket', 'spdy/3.1', 'my-own/2'])
    test(`but not the upgrade ${name}`, () => assert.deepEqual(upgrade(name), []));

  const login = (origin: string) =>
    warnings(
      'Filter',
      `{ OAuth2: { authorizationURL: "https://idp.test", clientID: a, secret: b, protectedOrigins: [{ origin: ${JSON.stringify(origin)} }] } }`,
    );

  test('a path in an origin', () => {
    assert.deepEqual(login('https://a.test/app'), [
      'spec.OAuth2.protectedOrigins[0].origin: an origin has no path: what follows the host "/app" has no effect, and all paths are meant',
    ]);
  });

  for (const origin of ['https://a.test', 'https://a.test/', 'https://a.test:8443'])
    test(`but not the origin ${origin}`, () => assert.deepEqual(login(origin), []));

  test('the line break at the end of a secret, but not of PEM, which has one', () => {
    const secret = (text: string) =>
      warnings(
        'Filter',
        `{ OAuth2: { authorizationURL: "https://idp.test", clientID: a, secret: ${JSON.stringify(text)}, protectedOrigins: [{ origin: "https://a.test" }] } }`,
      );
    assert.deepEqual(secret('abc\n'), ['spec.OAuth2.secret: the line break at its end is cut']);
    assert.deepEqual(secret('-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n'), []);
  });
});
