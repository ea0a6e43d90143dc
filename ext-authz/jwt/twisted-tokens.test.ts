import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { cases } from '#protos/testing/cases.ts';
import { renderHeaders, requestData } from './inject-headers.ts';
import { headerTemplates } from './testing/jwt-settings.ts';
import { decodeJwt, NO_TOKEN, tokenData } from './token-data.ts';

const part = (text: string) => Buffer.from(text).toString('base64url');
const jwt = (claims: string) => `${part('{"alg":"RS256"}')}.${part(claims)}.c2ln`;

/** Numbers in [0, 1) that are the same in each run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const TEMPLATES = headerTemplates([
  ['x-raw', '{{ .token.Raw }}'],
  ['x-claim', '{{ .token.Claims.a }}{{ .token.Claims.__proto__ }}{{ .token.Claims.constructor }}'],
  ['x-header', '{{ .token.Header.alg }}{{ .token.Signature }}'],
]);

function render(raw: string) {
  const data = () => requestData({ token: tokenData(raw), idToken: NO_TOKEN }, () => requestWith());
  return renderHeaders(TEMPLATES, data, { realm: 'a.b', field: 'injectRequestHeaders' });
}

test('tokens damaged at random are decoded or not, and never fail a template', () => {
  const random = randomFrom(7);
  const whole = jwt('{"a":"b","scope":"x","n":1}');
  for (let n = 0; n < cases({ all: 5_000, quick: 1_250 }); n += 1) {
    const characters = [...whole];
    const count = 1 + Math.floor(random() * 4);
    for (let change = 0; change < count; change += 1) {
      const place = Math.floor(random() * characters.length);
      characters.splice(place, Math.floor(random() * 3), 'aZ0-_.='[Math.floor(random() * 7)] ?? '');
    }
    const raw = characters.join('');
    const decoded = decodeJwt(raw);
    if (decoded === undefined || typeof decoded.claims.a === 'string')
      assert.ok(renderOrControl(raw), raw);
  }
});

/** A claim may hold a control character. Nothing else may go wrong. */
function renderOrControl(raw: string): boolean {
  try {
    return render(raw).size === 3;
  } catch (error) {
    return error instanceof Error && error.message.endsWith('the value has a control character');
  }
}

test('names of prototypes are not claims', () => {
  assert.equal(render(jwt('{}')).get('x-claim'), '<no value><no value><no value>');
  assert.equal(
    render(jwt('{"__proto__":{"a":"x"}}')).get('x-claim'),
    '<no value>map[a:x]<no value>',
  );
});

test('claims that are nested 20,000 deep, huge or no object do no harm', () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  for (const claims of [deep, `{"b":"${'x'.repeat(40_000)}"}`, '[]', 'null', '"a"', '1', '{', ''])
    assert.equal(render(jwt(claims)).size, 3, claims.slice(0, 20));
});

test('halves of surrogate pairs and bytes that are no UTF-8 become U+FFFD', () => {
  assert.equal(render(jwt('{"a":"\\ud800"}')).get('x-claim'), '\ufffd<no value><no value>');
  const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
  const raw = `${part('{}')}.${bytes.toString('base64url')}.c2ln`;
  assert.equal(render(raw).get('x-claim'), '\ufffd<no value><no value>');
});
