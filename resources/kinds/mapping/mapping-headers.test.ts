import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const MINIMAL = { prefix: '/user', service: 'user' };

const READ_AS: readonly [fields: object, spec: object][] = [
  [
    {
      add_request_headers: {
        'X-A': 'b',
        'x-b': true,
        'x-c': { value: '%PROTOCOL%' },
        'x-d': { value: '', append: false },
        'x-e': { value: 'f', v2Representation: 'string' },
      },
    },
    {
      add_request_headers: {
        'x-a': { value: 'b', append: true },
        'x-b': { value: 'true', append: true },
        'x-c': { value: '%PROTOCOL%', append: true },
        'x-d': { value: '', append: false },
        'x-e': { value: 'f', append: true },
      },
    },
  ],
  [
    { add_response_headers: { 'Set-Cookie': 'a=b' } },
    { add_response_headers: { 'set-cookie': { value: 'a=b', append: true } } },
  ],
  [{ remove_request_headers: 'X-A' }, { remove_request_headers: ['x-a'] }],
  [
    { remove_response_headers: ['x-b', 'Server', 'X-B'] },
    { remove_response_headers: ['server', 'x-b'] },
  ],
  [{ add_request_headers: null, remove_request_headers: null }, {}],
];

for (const [fields, expected] of READ_AS) {
  test(`a Mapping with ${JSON.stringify(fields)} is read as ${JSON.stringify(expected)}`, () => {
    const [resource] = parseText(documentOf('Mapping', { ...MINIMAL, ...fields })).resources;
    const [minimal] = parseText(documentOf('Mapping', MINIMAL)).resources;
    assert.deepEqual(resource?.spec, { ...minimal?.spec, ...expected });
  });
}

for (const [fields, field] of [
  [{ remove_response_headers: ['Server'] }, 'remove_response_headers'],
  [{ add_response_headers: { server: 'a' } }, 'add_response_headers.server'],
] as const) {
  test(`a Mapping with ${JSON.stringify(fields)} is served with a warning at the edge`, () => {
    const why = 'the edge writes `server` itself: `server_name` of the Module says what';
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields }), [
      `warning spec.${field}: ${why}`,
    ]);
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields, node_group: 'user' }), []);
  });
}

const ADDED =
  '`x-a` must be a string, or a map of `value` (a string) and `append` (`true` or `false`)';
const TOKEN = "is not a header name: letters, digits and !#$%&'*+-.^_`|~ only";

const REFUSED: readonly [fields: object, problem: string][] = [
  [
    { add_request_headers: 'x-a: b' },
    'error spec.add_request_headers: `add_request_headers` must be a map from header name to its value, or to { value, append }, not "x-a: b"',
  ],
  [{ add_request_headers: { 'x-a': 5 } }, `error spec.add_request_headers.x-a: ${ADDED}`],
  [
    { add_request_headers: { 'x-a': { append: false } } },
    `error spec.add_request_headers.x-a: ${ADDED}`,
  ],
  [
    { add_request_headers: { 'x-a': { value: 'b', apend: false } } },
    `error spec.add_request_headers.x-a: ${ADDED}`,
  ],
  [
    { add_request_headers: { 'x a': 'b' } },
    `error spec.add_request_headers["x a"]: "x a" ${TOKEN}`,
  ],
  [
    { add_request_headers: { 'x-a': 'b', 'X-A': 'c' } },
    'error spec.add_request_headers.x-a: the header "x-a" is named twice. Header names have no case',
  ],
  [
    { add_request_headers: { 'x-a': 'b\n' } },
    'error spec.add_request_headers.x-a: a header value has no control characters',
  ],
  [
    { add_request_headers: { 'x-a': 'x'.repeat(4097) } },
    'error spec.add_request_headers.x-a: a header value has 4096 characters at most, not 4097',
  ],
  [
    {
      add_request_headers: Object.fromEntries(
        Array.from({ length: 101 }, (_, at) => [`x-${at}`, '']),
      ),
    },
    'error spec.add_request_headers: more than 100 headers',
  ],
  [
    { add_request_headers: { Host: 'a' } },
    'error spec.add_request_headers.Host: a Mapping may not add the header "Host". `host_rewrite` says which host the service sees',
  ],
  ...[
    ':path',
    'Connection',
    'Content-Length',
    'content_length',
    'Cookie',
    'Transfer-Encoding',
    'X-Envoy-Retry-On',
    'X-Gateway-Password',
    'x-gateway-tls-host',
    'X-Request-Id',
  ].map((name): [object, string] => [
    { add_request_headers: { [name]: 'a' } },
    `error spec.add_request_headers${/^[\w-]+$/.test(name) ? `.${name}` : `["${name}"]`}: a Mapping may not add the header "${name}"`,
  ]),
  ...[':status', 'Content-Length', 'grpc-status', 'x-gateway-retriable'].map(
    (name): [object, string] => [
      { add_response_headers: { [name]: 'a' } },
      name === ':status'
        ? 'error spec.add_response_headers[":status"]: ":status" is no header of a request. Of those with ":" there are :authority, :method, :path, :scheme'
        : `error spec.add_response_headers.${name}: a Mapping may not add the header "${name}"`,
    ],
  ),
  [
    { remove_request_headers: ['x-a', 'host'] },
    'error spec.remove_request_headers: a Mapping may not remove the header "host". `host_rewrite` says which host the service sees',
  ],
  [
    { remove_request_headers: 'upgrade' },
    'error spec.remove_request_headers: a Mapping may not remove the header "upgrade"',
  ],
  [
    { remove_response_headers: ['x-gateway-retriable'] },
    'error spec.remove_response_headers: a Mapping may not remove the header "x-gateway-retriable"',
  ],
  [
    { remove_response_headers: [5] },
    'error spec.remove_response_headers: `remove_response_headers` must be a header name or a list of them, not a list',
  ],
];

for (const [fields, problem] of REFUSED) {
  test(`a Mapping with ${JSON.stringify(fields).slice(0, 100)} is rejected`, () => {
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields }), [problem]);
    assert.deepEqual(parseText(documentOf('Mapping', { ...MINIMAL, ...fields })).resources, []);
  });
}

const NO_OPERATOR = (at: number) =>
  `Cannot parse header value: the "%" at character ${at} begins no operator that Envoy knows. Write "%%" for a percent sign`;

const VALUES: readonly [value: string, error: string][] = [
  ['100%', NO_OPERATOR(4)],
  ['p%SECRET%w', NO_OPERATOR(2)],
  ['%protocol%', NO_OPERATOR(1)],
  ['%REQ(x', NO_OPERATOR(1)],
  ['%REQ%', 'Cannot parse header value: `REQ` needs params: %REQ(…)%'],
  [
    '%PROTOCOL:3%',
    'Cannot parse header value: `PROTOCOL` takes neither params nor a length: write %PROTOCOL%',
  ],
  ['%ENVIRONMENT(HOME)%', 'Cannot parse header value: `ENVIRONMENT` is not allowed in a header'],
  ['%CEL(request.path)%', 'Cannot parse header value: `CEL` is not allowed in a header'],
];

for (const [value, error] of VALUES) {
  test(`a header whose value is ${value} is rejected, without a word of the value`, () => {
    assert.deepEqual(
      problemsOf('Mapping', { ...MINIMAL, add_response_headers: { 'x-a': value } }),
      [`error spec.add_response_headers.x-a: ${error}`],
    );
  });
}
