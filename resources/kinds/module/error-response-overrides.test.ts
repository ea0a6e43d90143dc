import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const FIELD = 'spec.config.error_response_overrides';

function problems(...overrides: readonly object[]): readonly string[] {
  return problemsOf('Module', { config: { error_response_overrides: overrides } }, 'gateway');
}

const withBody = (body: object) => problems({ on_status_code: 404, body });

test('texts and JSON with operators are taken as they are written', () => {
  const error_response_overrides = [
    {
      on_status_code: 404,
      body: { text_format: '%RESPONSE_CODE% 100%%\n', content_type: 'text/html; charset=utf-8' },
    },
    {
      on_status_code: 599,
      body: { json_format: { status: '%RESPONSE_CODE%', id: '%REQ(X-REQUEST-ID)%' } },
    },
  ];
  const text = documentOf('Module', { config: { error_response_overrides } }, 'gateway');
  const { resources, problems } = parseText(text);
  const [resource] = resources;
  assert.deepEqual(problems, []);
  assert.deepEqual(
    resource?.kind === 'Module' && resource.spec.config.error_response_overrides,
    error_response_overrides,
  );
});

const WRONG: readonly (readonly [body: object, problem: RegExp])[] = [
  [{}, /body: write either `text_format` or `json_format`$/],
  [{ text_format: 'a', json_format: { a: 'b' } }, /body: write either/],
  [{ text_format: '' }, /text_format: `text_format` must not be empty$/],
  [
    { text_format: '100%' },
    /text_format: Cannot parse body: the "%" at character 4 begins no operator/,
  ],
  [{ text_format: '%RESPONSE_COD%' }, /unknown operator `RESPONSE_COD`, did you mean/],
  [{ text_format: '%ENVIRONMENT(SECRET)%' }, /`ENVIRONMENT` is not allowed in a body$/],
  [
    { json_format: { a: '%CEL(request.path)%' } },
    /json_format\.a: .*`CEL` is not allowed in a body$/,
  ],
  [{ text_format: '%REQ(Authorization)%' }, /`Authorization` is not allowed in a body$/],
  [{ text_format: '%REQUEST_HEADER(x-a?cookie):9%' }, /`cookie` is not allowed in a body$/],
  [{ text_format: '%RESP(SET-COOKIE)%' }, /`SET-COOKIE` is not allowed in a body$/],
  [{ json_format: { a: { b: 'c' } } }, /json_format\.a: /],
  [{ text_format: 'a', content_type: 'text/html\r\nx: y' }, /content_type: a content type is as/],
  [
    { text_format_source: { filename: '/etc/passwd' } },
    /text_format_source: the gateway reads no files/,
  ],
  [
    { text_format: 'a', text_format_source: { filename: 'x' } },
    /text_format_source: the gateway reads no files/,
  ],
  [
    { text_format: 'x'.repeat(16_384) },
    /all overrides together have 16384 characters at most, not 16434$/,
  ],
];

for (const [body, problem] of WRONG) {
  test(`the body ${JSON.stringify(body).slice(0, 60)} is an error, and leaves out overrides alone`, () => {
    const [found = '', ...others] = withBody(body);
    assert.match(found, problem);
    assert.ok(found.startsWith(`error ${FIELD}`), found);
    assert.deepEqual(others, []);
    const config = {
      escaped_slashes: 'keep',
      error_response_overrides: [{ on_status_code: 404, body }],
    };
    const [resource] = parseText(documentOf('Module', { config }, 'gateway')).resources;
    assert.ok(resource?.kind === 'Module');
    assert.equal(resource.spec.config.escaped_slashes, 'keep');
    assert.deepEqual(resource.spec.config.error_response_overrides ?? [], []);
  });
}

test('answers that are no errors cannot be replaced', () => {
  for (const on_status_code of [200, 302, 399, 600])
    assert.deepEqual(problems({ on_status_code, body: { text_format: 'a' } }), [
      `error ${FIELD}[0].on_status_code: \`on_status_code\` must be an integer from 400 to 599, not ${on_status_code}`,
    ]);
});

test('the second override of a status is told of', () => {
  const one = { on_status_code: 404, body: { text_format: 'a' } };
  assert.deepEqual(problems(one, { ...one, on_status_code: 403 }, one), [
    `warning ${FIELD}[2].on_status_code: the status 404 has an override above, and the first counts`,
  ]);
});

test('what a client said is told of in a page, and nowhere else', () => {
  for (const operator of [
    'REQ(X-NAME)',
    'REQUEST_HEADER(X)',
    'PATH',
    'RESP(X)',
    'DYNAMIC_METADATA(a:b)',
    'QUERY_PARAM(q)',
    'XFCC_VALUE(by)',
  ]) {
    const text_format = `<p>%${operator}%</p>`;
    assert.match(
      withBody({ text_format, content_type: 'Text/HTML' }).join(),
      /^warning spec\.config\.error_response_overrides\[0\]\.body\.text_format: `\w+` may write what a client said/,
    );
    assert.deepEqual(withBody({ text_format }), []);
  }
  assert.deepEqual(withBody({ text_format: '%RESPONSE_CODE%', content_type: 'text/html' }), []);
});

test('of several overrides only the wrong one is left out, and others are told of where they stand', () => {
  const body = { text_format: 'a' };
  const overrides = [
    { on_status_code: 200, body },
    { on_status_code: 404, body },
    { on_status_code: 503, body: { text_format: '%NONE%' } },
    { on_status_code: 404, body: { text_format: 'b' } },
  ];
  assert.deepEqual(
    problems(...overrides).map(line => line.split(': ')[0]),
    [
      `error ${FIELD}[0].on_status_code`,
      `error ${FIELD}[2].body.text_format`,
      `warning ${FIELD}[3].on_status_code`,
    ],
  );
  const config = { error_response_overrides: overrides };
  const [resource] = parseText(documentOf('Module', { config }, 'gateway')).resources;
  assert.ok(resource?.kind === 'Module');
  assert.deepEqual(resource.spec.config.error_response_overrides, [overrides[1], overrides[3]]);
});

test('a list that is none is left out whole', () => {
  for (const list of ['a', {}, 404]) {
    const config = { escaped_slashes: 'keep', error_response_overrides: list };
    const { problems, resources } = parseText(documentOf('Module', { config }, 'gateway'));
    assert.equal(problems.length, 1);
    const [resource] = resources;
    assert.ok(resource?.kind === 'Module');
    assert.deepEqual(
      [resource.spec.config.escaped_slashes, resource.spec.config.error_response_overrides],
      ['keep', undefined],
    );
  }
});

test('a Mapping has the same overrides, and is served without those that are wrong', () => {
  const right = { on_status_code: 404, body: { text_format: 'a' } };
  const wrong = { on_status_code: 404, body: { text_format: '%COOKIE%' } };
  const former = { on_status_code: 503, body: { text_format: '%LOCAL_REPLY_BODY%' } };
  const spec = { prefix: '/a/', service: 'a', error_response_overrides: [wrong, right, former] };
  const [unknown = '', ...others] = problemsOf('Mapping', spec);
  assert.match(
    unknown,
    /^error spec\.error_response_overrides\[0\]\.body\.text_format: .*`COOKIE`/,
  );
  assert.deepEqual(others, [
    'warning spec.error_response_overrides[2].body: `LOCAL_REPLY_BODY` is always `-` on a Mapping. The Module has its value',
  ]);
  const [resource] = parseText(documentOf('Mapping', spec)).resources;
  assert.ok(resource?.kind === 'Mapping');
  assert.deepEqual(resource.spec.error_response_overrides, [right, former]);
});
