import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { document, explained, lastLine } from '../testing/explained.ts';

/** Nothing listens on this port, so what the gateway does not answer itself is answered 503. */
const RESOURCES = [
  document(
    'Mapping',
    'with',
    `{prefix: /with/, service: '127.0.0.1:1', cors: {origins: 'https://a.example'}}`,
  ),
  document('Mapping', 'without', `{prefix: /without/, service: '127.0.0.1:1'}`),
].join('');

const ORIGIN = 'Origin: https://a.example';
const ASKS = 'Access-Control-Request-Method: PUT';

const ASKED: readonly (readonly [
  method: string,
  path: string,
  header: string[],
  isAnswered: boolean,
])[] = [
  ['OPTIONS', '/with/', [ORIGIN, ASKS], true],
  ['OPTIONS', '/with/', ['Origin: https://b.example', ASKS], true],
  ['OPTIONS', '/with/', [ORIGIN], false],
  ['OPTIONS', '/with/', [ASKS], false],
  ['GET', '/with/', [ORIGIN, ASKS], false],
  ['OPTIONS', '/without/', [ORIGIN, ASKS], false],
];

describe('what is said of a preflight is what Envoy does', () => {
  let envoy: CompiledEnvoy;
  before(async () => {
    envoy = await startCompiled(RESOURCES);
  });
  after(() => envoy.stop());

  for (const [method, url, header, isAnswered] of ASKED) {
    test(`${method} ${url} with ${header.join(', ')} is ${isAnswered ? '' : 'not '}answered by the gateway`, async () => {
      const headers = Object.fromEntries(header.map(line => line.split(': ')));
      assert.equal((await envoy.ask(url, { method, headers })).status, isAnswered ? 200 : 503);
      const { answer } = explained(RESOURCES, { method, url, header });
      assert.equal(answer?.status, isAnswered ? 200 : undefined);
    });
  }
});

test('a preflight is said to be answered by the field that does it', () => {
  const asked = { method: 'OPTIONS', url: '/with/', header: [ORIGIN, ASKS] };
  assert.equal(
    lastLine(explained(RESOURCES, asked)),
    'This request is answered 200: the gateway answers preflights to this route (`cors`).',
  );
});
