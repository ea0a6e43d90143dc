import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemsOf } from '#resources/testing/problem-lines.ts';

const LIMIT = { pattern: [{ generic_key: 'a' }], rate: 5, unit: 'minute' };
const withLimit = (fields: object) => ({ domain: 'gateway', limits: [{ ...LIMIT, ...fields }] });

describe('a header name of a limit', () => {
  const lists = {
    request: (name: string) => withLimit({ injectRequestHeaders: [{ name, value: 'v' }] }),
    response: (name: string) => withLimit({ injectResponseHeaders: [{ name, value: 'v' }] }),
    'error response': (name: string) =>
      withLimit({ errorResponse: { headers: [{ name, value: 'v' }] } }),
  };
  const everywhere = [
    'Connection',
    'Content-Length',
    'Keep-Alive',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'transfer_encoding',
    'Upgrade',
    'Set-Cookie',
    'Host',
    ':authority',
    ':path',
    'X-Envoy-Upstream-Service-Time',
  ];
  const request = [
    ...everywhere,
    'Content-Type',
    'content_type',
    'Cookie',
    'X-Forwarded-For',
    'X_Forwarded_For',
    'x-forwarded-proto',
    'X-Gateway-Client-Assertion',
    'X-Gateway-Client-ID',
    'X-Gateway-Client-Secret',
    'X-Gateway-Password',
    'X-Gateway-Username',
    'X-Request-Id',
  ];
  const response = [
    ...everywhere,
    'Content-Type',
    'grpc-status',
    'grpc-message',
    'grpc-status-details-bin',
  ];
  const rejected = {
    request,
    response,
    'error response': response.filter(name => name !== 'Content-Type'),
  };

  for (const [list, names] of Object.entries(rejected)) {
    for (const name of names) {
      test(`may not be ${name} in a ${list}`, () => {
        const spec = lists[list as keyof typeof lists](name);
        const [problem = ''] = problemsOf('RateLimit', spec);
        assert.match(
          problem,
          /^error spec\.limits\[0\]\.\w+(\.headers)?\[0\]\.name: a limit may not set the header "/,
        );
        assert.ok(problem.includes(`"${name}"`));
      });
    }
  }

  test('says where a Content-Type belongs', () => {
    assert.deepEqual(problemsOf('RateLimit', lists.response('Content-Type')), [
      'error spec.limits[0].injectResponseHeaders[0].name: a limit may not set the header "Content-Type". That of an error response belongs in `errorResponse.headers`',
    ]);
  });

  for (const name of ['', 'x y', 'x:', 'x\n', 'é', '\u212aey', ':status', 'x"']) {
    test(`may not be ${JSON.stringify(name)}`, () => {
      for (const list of Object.values(lists)) {
        const [problem = '', ...others] = problemsOf('RateLimit', list(name));
        assert.match(problem, /name: ".*" is (not a header name|no header of a request)/s);
        assert.deepEqual(others, []);
      }
    });
  }

  for (const name of [
    'x-limit',
    'X_Limit',
    'Authorization',
    'x-gateway-limit',
    '__proto__',
    'constructor',
  ]) {
    test(`may be ${name}`, () => {
      for (const list of Object.values(lists))
        assert.deepEqual(problemsOf('RateLimit', list(name)), []);
    });
  }
});

describe('a template of a limit', () => {
  const faulty: readonly [fields: object, problem: string][] = [
    [
      { injectRequestHeaders: [{ name: 'x-a', value: '{{ .A' }] },
      'injectRequestHeaders[0].value: Cannot parse template: line 1: unclosed action',
    ],
    [
      { injectResponseHeaders: [{ name: 'x-a', value: '{{ nope }}' }] },
      'injectResponseHeaders[0].value: Cannot parse template: line 1: function "nope" not defined',
    ],
    [
      { injectResponseHeaders: [{ name: 'x-a', value: '{{ json "" . }}' }] },
      'injectResponseHeaders[0].value: Cannot parse template: line 1: function "json" not defined',
    ],
    [
      { errorResponse: { headers: [{ name: 'x-a', value: '{{ if }}' }] } },
      'errorResponse.headers[0].value: Cannot parse template: line 1: missing value for if',
    ],
    [
      { errorResponse: { headers: [{ name: 'x-a', value: '{{ json "" . }}' }] } },
      'errorResponse.headers[0].value: Cannot parse template: line 1: function "json" not defined',
    ],
    [
      { errorResponse: { bodyTemplate: 'a\n{{ end }}' } },
      'errorResponse.bodyTemplate: Cannot parse template: line 2: unexpected {{end}}',
    ],
    [
      { errorResponse: { bodyTemplate: '{{ doNotSet }}' } },
      'errorResponse.bodyTemplate: Cannot parse template: line 1: function "doNotSet" not defined',
    ],
  ];
  for (const [fields, problem] of faulty) {
    test(`that is faulty is a Problem of its field: ${JSON.stringify(fields)}`, () => {
      assert.deepEqual(problemsOf('RateLimit', withLimit(fields)), [
        `error spec.limits[0].${problem}`,
      ]);
    });
  }

  test('of a header knows hasKey and doNotSet, of a body hasKey and json', () => {
    const fields = {
      injectRequestHeaders: [
        { name: 'x-a', value: '{{ if hasKey . "a" }}{{ doNotSet }}{{ end }}' },
      ],
      errorResponse: { bodyTemplate: '{{ if hasKey . "a" }}{{ . | json "" }}{{ end }}' },
    };
    assert.deepEqual(problemsOf('RateLimit', withLimit(fields)), []);
  });

  test('without actions may give no control character to a header', () => {
    for (const value of ['a\nb', 'a\u0000', '\u007f']) {
      assert.deepEqual(
        problemsOf('RateLimit', withLimit({ injectRequestHeaders: [{ name: 'x-a', value }] })),
        [
          'error spec.limits[0].injectRequestHeaders[0].value: a header value has no line breaks and no other control characters',
        ],
      );
    }
    assert.deepEqual(
      problemsOf(
        'RateLimit',
        withLimit({ injectRequestHeaders: [{ name: 'x-a', value: 'a\tb' }] }),
      ),
      [],
    );
  });
});
