import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  body,
  decided,
  header,
  LOG_ONLY,
  OVER,
  REQUEST_ID,
  responseHeaders,
  WITHIN,
} from './testing/decided.ts';
import type { LimitJson } from './testing/limits.ts';

/** Returns what a header template gives within, or over, a limit of 9 (or 0) a minute. */
function rendered(value: string, limit: LimitJson = WITHIN): string | undefined {
  return responseHeaders([{ ...limit, inject_response_headers: [header('x', value)] }]).find(
    ([name]) => name === 'x',
  )?.[1];
}

/** Returns what a body template gives for a limit of 0 a minute. */
function renderedBody(body_template: string): string | undefined {
  return body([{ ...OVER, error_response: { body_template } }]);
}

test('white space round a header value is cut', () => assert.equal(rendered(' \ta b\t '), 'a b'));

test('a header that is empty is sent empty', () => assert.equal(rendered(''), ''));

for (const [what, value] of [
  ['CR LF', 'a\r\nx-evil: 1'],
  ['LF', 'a\nb'],
  ['LF at the end', 'a\n'],
  ['NUL', 'a\u0000'],
  ['DEL', '\u007fa'],
  ['a C1 control', 'a\u0085'],
] as const) {
  test(`a header value with ${what} is left out and reported, without the value`, () => {
    const { response, failures } = decided([
      { ...WITHIN, inject_request_headers: [header('x-a', value), header('x-b', '1')] },
    ]);
    assert.deepEqual(response.request_headers_to_add, [{ key: 'x-b', value: '1' }]);
    assert.deepEqual(failures, [
      {
        limit: 'limit-0',
        field: 'injectRequestHeaders',
        header: 'x-a',
        error: 'the value has a control character',
      },
    ]);
  });
}

test('a header value of 4,096 bytes is sent, a longer one is left out and reported', () => {
  assert.equal(rendered('x'.repeat(4_096)), 'x'.repeat(4_096));
  const { response, failures } = decided([
    { ...WITHIN, inject_response_headers: [header('x', 'é'.repeat(2_049))] },
  ]);
  assert.deepEqual(response.response_headers_to_add, []);
  assert.equal(failures[0]?.error, 'the text has 4098 bytes, 4096 are allowed');
});

test('a header that was left out does not keep a later one of its name out', () =>
  assert.deepEqual(
    responseHeaders([
      { ...WITHIN, inject_response_headers: [header('x', 'a\nb')] },
      { ...WITHIN, inject_response_headers: [header('x', 'good')] },
    ]),
    [['x', 'good']],
  ));

test('a body of 16,384 bytes is sent, a longer one fails', () => {
  assert.equal(renderedBody('x'.repeat(16_384))?.length, 16_384);
  const { failures } = decided([
    { ...OVER, error_response: { body_template: 'x'.repeat(16_385) } },
  ]);
  assert.deepEqual(failures, [
    {
      limit: 'limit-0',
      field: 'errorResponse.bodyTemplate',
      error: 'the text has 16385 bytes, 16384 are allowed',
    },
  ]);
});

const HEADERS: readonly [template: string, limit: LimitJson, value: string | undefined][] = [
  ['{{ .RateLimitResponse.OverallCode }}', WITHIN, '1'],
  ['{{ .RateLimitResponse.OverallCode }}', OVER, '2'],
  ['{{ .RateLimitResponse.OverallCode }}', LOG_ONLY, '1'],
  ['{{ eq .RateLimitResponse.OverallCode 2 }}', OVER, 'true'],
  ['{{ len .RateLimitResponse.Statuses }}', WITHIN, '1'],
  ['{{ (index .RateLimitResponse.Statuses 0).Code }}', WITHIN, '1'],
  ['{{ (index .RateLimitResponse.Statuses 0).Code }}', LOG_ONLY, '2'],
  [
    '{{ range .RateLimitResponse.Statuses }}{{ .CurrentLimit.Name }} {{ .CurrentLimit.RequestsPerUnit }}/{{ .CurrentLimit.Unit }}{{ end }}',
    WITHIN,
    'limit-0 9/MINUTE',
  ],
  [
    '{{ range .RateLimitResponse.Statuses }}{{ .LimitRemaining }} {{ .DurationUntilReset }}{{ end }}',
    WITHIN,
    '8 45.5s',
  ],
  ['{{ .RetryAfter }}', WITHIN, '0s'],
  ['{{ .RetryAfter }}', OVER, '45.5s'],
  ['{{ .RetryAfter }}', LOG_ONLY, '45.5s'],
  ['{{ .RetryAfter.Seconds | printf "%.0f" }}', OVER, '46'],
  ['{{ .nope }}', WITHIN, '<no value>'],
  ['{{ .status_code }}{{ .request_id }}', OVER, '<no value><no value>'],
  ['{{ hasKey . "RetryAfter" }} {{ hasKey . "nope" }}', WITHIN, 'true false'],
  ['{{ doNotSet }}', WITHIN, undefined],
  ['{{ if eq .RetryAfter 0 }}{{ doNotSet }}{{ end }}{{ .RetryAfter }}', WITHIN, undefined],
  ['{{ if eq .RetryAfter 0 }}{{ doNotSet }}{{ end }}{{ .RetryAfter }}', OVER, '45.5s'],
];

for (const [template, limit, value] of HEADERS) {
  const state = limit === WITHIN ? 'within' : limit === OVER ? 'over' : 'over, LogOnly';
  test(`a header ${template} is ${value ?? 'not set'} (${state})`, () =>
    assert.equal(rendered(template, limit), value));
}

for (const [unit, text] of [
  ['SECOND', 'SECOND'],
  ['HOUR', 'HOUR'],
  ['DAY', 'DAY'],
] as const) {
  test(`the unit of a ${unit.toLowerCase()} prints as ${text}`, () =>
    assert.equal(
      rendered('{{ (index .RateLimitResponse.Statuses 0).CurrentLimit.Unit }}', {
        ...WITHIN,
        unit,
      }),
      text,
    ));
}

test('statuses of templates are those of all matched limits, in group order', () => {
  const template = '{{ range .RateLimitResponse.Statuses }}{{ .CurrentLimit.Name }} {{ end }}';
  const limits = [
    { ...WITHIN, pattern: ['b'] },
    { ...WITHIN, inject_response_headers: [header('x', template)] },
    { ...WITHIN, unit: 'DAY' },
  ];
  assert.deepEqual(responseHeaders(limits), [['x', 'limit-1 limit-2 limit-0']]);
});

test('RetryAfter of templates waits for the longest exceeded limit, LogOnly ones too', () => {
  const limits = [
    { ...OVER, error_response: { body_template: '{{ .RetryAfter }}' } },
    { ...LOG_ONLY, pattern: ['b'], unit: 'HOUR' },
  ];
  assert.equal(body(limits), '59m45.5s');
});

const BODIES: readonly [template: string, text: string][] = [
  ['plain', 'plain'],
  ['{{ .status_code }} {{ .message }}', '429 rate limit exceeded'],
  ['{{ .request_id }}', REQUEST_ID],
  ['{{ .RetryAfter }}', '45.5s'],
  ['{{ .message | json "" }}', '"rate limit exceeded"'],
  [
    '{{ json "" . }}',
    `{
	"RateLimitResponse": {
		"overall_code": 2,
		"statuses": [
			{
				"code": 2,
				"current_limit": {
					"name": "limit-0",
					"unit": 2
				},
				"duration_until_reset": 45500000000
			}
		]
	},
	"RetryAfter": 45500000000,
	"message": "rate limit exceeded",
	"status_code": 429
}`,
  ],
];

for (const [template, text] of BODIES) {
  test(`a body ${template} is rendered with the data of an error`, () =>
    assert.equal(renderedBody(template), text));
}

test('headers of errorResponse see the data of an error', () =>
  assert.deepEqual(
    responseHeaders([
      {
        ...OVER,
        error_response: {
          headers: [header('x', '{{ .status_code }} {{ .message }} {{ .request_id }}')],
        },
      },
    ]),
    [
      ['x', `429 rate limit exceeded ${REQUEST_ID}`],
      ['retry-after', '46'],
    ],
  ));

test('a template whose header is there already is not evaluated', () => {
  const inject = (value: string) => ({ ...WITHIN, inject_response_headers: [header('x', value)] });
  const { failures } = decided([inject('good'), inject('{{ .RateLimitResponse.Nope }}')]);
  assert.deepEqual(failures, []);
});

test('a header template that fails is left out and reported', () => {
  const failing = header('x', '{{ .RateLimitResponse.Nope }}');
  const { response, failures } = decided([
    { ...OVER, error_response: { headers: [failing] }, inject_response_headers: [failing] },
  ]);
  assert.deepEqual(response.response_headers_to_add, [{ key: 'retry-after', value: '46' }]);
  assert.deepEqual(
    failures.map(({ limit, field, header }) => [limit, field, header]),
    [
      ['limit-0', 'errorResponse.headers', 'x'],
      ['limit-0', 'injectResponseHeaders', 'x'],
    ],
  );
  assert.match(failures[0]?.error ?? '', /can't evaluate field Nope/);
});

test('a body template that fails gives a JSON body that names it, and the answer stays 429', () => {
  const headers = [header('content-type', 'text/html'), header('x', '1')];
  const { response, failures } = decided([
    { ...OVER, name: 'n', error_response: { headers, body_template: '{{ .message.nope }}' } },
  ]);
  assert.equal(response.overall_code, 2);
  assert.deepEqual(response.response_headers_to_add, [
    { key: 'content-type', value: 'application/json' },
    { key: 'x', value: '1' },
    { key: 'retry-after', value: '46' },
  ]);
  assert.deepEqual(JSON.parse(Buffer.from(response.raw_body ?? []).toString()), {
    message: 'errorResponse.bodyTemplate of limit n failed',
    request_id: REQUEST_ID,
    status_code: 500,
  });
  assert.deepEqual(
    failures.map(({ limit, field }) => [limit, field]),
    [['n', 'errorResponse.bodyTemplate']],
  );
});

test('a body that is empty after all is no body', () =>
  assert.equal(renderedBody('{{ if false }}x{{ end }}'), undefined));
