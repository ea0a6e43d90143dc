import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '#protos/decode-bytes.ts';
import { findType } from '#protos/root.ts';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { decide } from './decide.ts';
import { compileLimits } from './limits-index.ts';
import { parseLimits } from './parse-limits.ts';
import type { RateLimitRequest } from './request.ts';
import { mapStore } from './testing/requests.ts';
import { OK, OVER_LIMIT } from './wire.ts';

const WORDS = [
  '',
  'a',
  '*',
  '__proto__',
  'constructor',
  '\u0000',
  '\r\n',
  '\ud800',
  '\u{1f4a9}',
  '\u202e',
  'é',
  ':',
  '1:a',
  '"',
  '\\',
];
const TEMPLATES = [
  '',
  'a',
  '{{',
  '{{ end }}',
  '{{ .RetryAfter }}',
  '{{ .nope.nope }}',
  '{{ json "" . }}',
  '{{ range .RateLimitResponse.Statuses }}{{ .CurrentLimit.Name }}\n{{ end }}',
  '{{ doNotSet }}',
  '{{ index . "request_id" }}',
  '{{ printf "%4096d" 1 }}',
  '{{ template "x" . }}',
];
const HITS = [undefined, 0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 53, 2 ** 64];

type Random = () => number;

test('any resource that can be decoded gives limits or an error, and any request a response that can be encoded', () => {
  let responses = 0;
  for (let seed = 0; seed < cases({ all: 3_000, quick: 750 }); seed++) {
    const random = seededRandom(seed);
    const parsed = parseLimits(
      decoded('gateway.config.v1.RateLimit', randomRateLimit(random)) as Message,
    );
    const index = compileLimits('value' in parsed ? parsed.value : []);
    const request = decoded('envoy.service.ratelimit.v3.RateLimitRequest', randomRequest(random));
    const decision = decide(
      index,
      mapStore(1e12 * random()),
      request as RateLimitRequest,
      pick(WORDS, random),
    );
    assert.ok(!(decision instanceof Promise));
    if ('invalid' in decision) continue;
    assertResponse(decision.response, (request as RateLimitRequest).descriptors.length);
    responses += decision.verdict.groups.some(({ statuses }) => statuses.length > 0) ? 1 : 0;
  }
  assert.ok(responses > cases({ all: 200, quick: 50 }), `only ${responses} requests met a limit`);
});

function assertResponse(response: object, descriptors: number): void {
  const { overall_code, statuses, response_headers_to_add, request_headers_to_add } = decoded(
    'envoy.service.ratelimit.v3.RateLimitResponse',
    response,
  ) as {
    readonly [field: string]: readonly {
      readonly key: string;
      readonly value: string;
      readonly code: number;
    }[];
  };
  assert.ok([OK, OVER_LIMIT].includes(Number(overall_code)));
  assert.equal(statuses?.length, descriptors);
  for (const { code } of statuses ?? []) assert.ok([OK, OVER_LIMIT].includes(code));
  for (const { key, value } of [
    ...(response_headers_to_add ?? []),
    ...(request_headers_to_add ?? []),
  ]) {
    assert.match(key, /^[a-z_-]+$/);
    assert.doesNotMatch(value, /\p{Cc}/u);
    assert.ok(Buffer.byteLength(value) <= 4_096);
  }
}

function randomRateLimit(random: Random): object {
  return {
    domain: pick(['d', '__proto__', ''], random),
    limits: some(4, random, () => randomLimit(random)),
  };
}

function randomLimit(random: Random): object {
  return {
    name: pick(random() < 0.05 ? [''] : WORDS.filter(word => word !== ''), random),
    action: Math.floor(random() * 2.02),
    pattern: some(3, random, () => ({
      alternatives: [randomLabel(random), ...some(2, random, () => randomLabel(random))],
    })),
    rate: pick([0, 1, 2 ** 32 - 1], random),
    unit: 1 + Math.floor(random() * 4.02),
    inject_request_headers: some(2, random, () => randomHeader(random)),
    inject_response_headers: some(2, random, () => randomHeader(random)),
    error_response: pick(
      [
        null,
        {
          headers: some(2, random, () => randomHeader(random)),
          body_template: randomTemplate(random),
        },
      ],
      random,
    ),
  };
}

function randomRequest(random: Random): object {
  return {
    domain: pick(['d', '__proto__'], random),
    descriptors: some(4, random, () => ({
      entries: some(4, random, () => randomLabel(random)),
      hits_addend: pick([null, ...HITS.map(value => ({ value: value ?? 0 }))], random),
    })),
    hits_addend: pick(HITS.slice(0, 5), random) ?? 0,
  };
}

function randomLabel(random: Random): object {
  return { key: pick(['a', '__proto__', 'b'], random), value: pick(WORDS, random) };
}

function randomHeader(random: Random): object {
  return {
    name: pick(['x-a', '__proto__', 'Retry-After', 'content-type'], random),
    value: randomTemplate(random),
  };
}

function randomTemplate(random: Random): string {
  return pick(
    random() < 0.1
      ? TEMPLATES
      : [...TEMPLATES.filter(text => !/^\{\{( end \}\})?$|json|template/.test(text)), ...WORDS],
    random,
  );
}

function some<T>(most: number, random: Random, make: () => T): readonly T[] {
  return Array.from({ length: random() * (most + 1) }, make);
}

/** Passes a message through the wire, as the other side gets it. */
function decoded(name: string, message: object): object {
  const type = findType(name);
  assert.ok(type);
  return type.decode(type.encode(type.fromObject(message)).finish());
}
