import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findType } from '#protos/root.ts';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import type { CheckResponse } from './check-response.ts';
import { encodeCheck } from './encode-check.ts';

const type = findType('envoy.service.auth.v3.CheckResponse');
assert.ok(type !== undefined);
const ROUNDS = cases({ all: 10_000, quick: 1_000 });
const TEXTS = ['', 'x-user', 'Jürgen 🙂', 'x'.repeat(127), 'x'.repeat(128), 'x'.repeat(20_000)];

function randomResponse(random: () => number): CheckResponse {
  const many = <T>(make: () => T) => Array.from({ length: Math.floor(random() * 4) }, make);
  const text = () => pick(TEXTS, random);
  const header = () => ({
    header: { key: text(), value: text() },
    append_action: pick([0, 1, 2], random),
  });
  const status = { code: pick([0, 7], random) };
  if (random() < 0.5) {
    const denied_response = {
      status: { code: pick([200, 401, 599], random) },
      headers: many(header),
      body: text(),
    };
    return { status, denied_response };
  }
  const [headers, headers_to_remove, response_headers_to_add] = [
    many(header),
    many(text),
    many(header),
  ];
  const ok_response = { headers, headers_to_remove, response_headers_to_add };
  if (random() < 0.5) return { status, ok_response };
  return { status, ok_response, dynamic_metadata: { rule: text(), ms: text() } };
}

/** A Struct is written out in protobufjs. */
function asMessage({ dynamic_metadata, ...response }: CheckResponse): object {
  if (dynamic_metadata === undefined) return response;
  const texts = Object.entries(dynamic_metadata);
  const fields = Object.fromEntries(texts.map(([name, text]) => [name, { string_value: text }]));
  return { ...response, dynamic_metadata: { fields } };
}

test(`${ROUNDS} random answers: the very bytes that protobufjs makes`, () => {
  const random = seededRandom(1);
  for (let round = 0; round < ROUNDS; round++) {
    const response = randomResponse(random);
    const wanted = Buffer.from(type.encode(asMessage(response)).finish());
    assert.ok(wanted.equals(encodeCheck(response)), JSON.stringify(response).slice(0, 500));
  }
});

test('half a character is sent as U+FFFD: Envoy takes no text that is not UTF-8', () => {
  const denied_response = { status: { code: 403 }, headers: [], body: 'a\ud800' };
  const decoded = type.decode(encodeCheck({ status: { code: 7 }, denied_response }));
  assert.equal((decoded as unknown as CheckResponse).denied_response?.body, 'a\ufffd');
});
