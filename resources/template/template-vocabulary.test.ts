import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';

const quoted = (text: string) => JSON.stringify(text);

/** The warnings of a document with this spec, without their places. */
function warnings(kind: string, spec: string): readonly string[] {
  const text = `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: n }\nspec: ${spec}\n`;
  const { problems, resources } = parseFile('f.yaml', text, DEFAULT_PARSE_OPTIONS);
  assert.equal(resources.length, 1, JSON.stringify(problems));
  return problems.map(({ field, message }) => `${field}: ${message}`);
}

const limit = (more: string) =>
  warnings(
    'RateLimit',
    `{ domain: d, limits: [{ pattern: [{ a: "" }], rate: 1, unit: second, ${more} }] }`,
  );
const header = (value: string) => `[{ name: X-A, value: ${quoted(value)} }]`;
const body = (template: string) => limit(`errorResponse: { bodyTemplate: ${quoted(template)} }`);
const jwt = (more: string) =>
  warnings('Filter', `{ JWT: { jwksURI: "https://idp.test/keys", ${more} } }`);

describe('a template that reads what its data never has', () => {
  test('is told of, with the name that was meant', () => {
    assert.deepEqual(body('{{ .mesage }}'), [
      'spec.limits[0].errorResponse.bodyTemplate: the template reads `.mesage`, which is never there: did you mean `.message`?',
    ]);
  });

  test('is told of, with the names that there are', () => {
    assert.deepEqual(limit(`injectResponseHeaders: ${header('{{ .message }}')}`), [
      'spec.limits[0].injectResponseHeaders[0].value: the template reads `.message`, which is never there: there are `.RateLimitResponse`, `.RetryAfter`',
    ]);
  });

  for (const [template, field] of [
    ['{{ .RateLimitResponse.Status }}', '.RateLimitResponse.Status'],
    [
      '{{ range .RateLimitResponse.Statuses }}{{ .CurrentLimit.Nmae }}{{ end }}',
      '.CurrentLimit.Nmae',
    ],
    ['{{ with .RateLimitResponse }}{{ .Message }}{{ end }}', '.Message'],
    ['{{ range .RateLimitResponse.Statuses }}{{ $.mesage }}{{ end }}', '.mesage'],
    ['{{ if true }}{{ else }}{{ printf "%s" (json "" .data) }}{{ end }}', '.data'],
    ['{{ (.RateLimitResponse).Codes }}', '.Codes'],
  ] as const)
    test(`is found in ${template}`, () => {
      const [message = '', ...more] = body(template);
      assert.deepEqual(more, []);
      assert.ok(message.includes(`the template reads \`${field}\``), message);
    });

  test('is told of a text, whose fields make the answer fail', () => {
    const template = '{{ if .error.ValidationError }}{{ .error.ValidationError.Errors }}{{ end }}';
    assert.deepEqual(jwt(`errorResponse: { bodyTemplate: ${quoted(template)} }`), [
      'spec.JWT.errorResponse.bodyTemplate: the template reads `.error.ValidationError`, which is never there: a text has no fields',
    ]);
  });

  test('is found in the headers and the answer of a JWT filter', () => {
    const found = jwt(`injectRequestHeaders: ${header('{{ .idToken.Raw }}{{ .token.Clams.sub }}')},
      errorResponse: { bodyTemplate: ${quoted('{{ .Error }}')} }`);
    assert.deepEqual(
      found.map(line => line.replace(/, which.*/, '')),
      [
        'spec.JWT.injectRequestHeaders[0].value: the template reads `.idToken`',
        'spec.JWT.injectRequestHeaders[0].value: the template reads `.token.Clams`',
        'spec.JWT.errorResponse.bodyTemplate: the template reads `.Error`',
      ],
    );
  });
});

describe('a template is left alone', () => {
  for (const template of [
    '',
    'no template at all',
    '{{ .message }} {{ .request_id }} {{ .status_code }} {{ .RetryAfter.Seconds }}',
    '{{ range $i, $s := .RateLimitResponse.Statuses }}{{ $s.Anything }}{{ .CurrentLimit.Unit }}{{ end }}',
    '{{ define "x" }}{{ .anything }}{{ end }}{{ template "x" .RateLimitResponse }}',
    '{{ with printf "a" }}{{ .anything }}{{ end }}',
    '{{ json "" . }}{{ json "" $ }}{{ hasKey . "other" }}',
  ])
    test(JSON.stringify(template), () => assert.deepEqual(body(template), []));

  test('where it reads claims and headers, of which any may be there', () => {
    const value =
      '{{ .token.Claims.sub.x }}{{ .token.Header.kid }}{{ .httpRequestHeader.Get "X-A" }}';
    assert.deepEqual(jwt(`injectRequestHeaders: ${header(value)}`), []);
  });
});
