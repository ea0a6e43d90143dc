import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const mappingWith = (cors: unknown, more: object = {}) => ({
  prefix: '/user',
  service: 'user',
  cors,
  ...more,
});

function read(cors: unknown): unknown {
  const [resource] = parseText(documentOf('Mapping', mappingWith(cors))).resources;
  return resource?.kind === 'Mapping' ? resource.spec.cors : undefined;
}

const NONE = { methods: [], headers: [], credentials: false, exposed_headers: [] };

const READ: readonly [written: object, expected: object][] = [
  [{ origins: '*' }, { ...NONE, origins: ['*'] }],
  [{ origins: ['null'] }, { ...NONE, origins: ['null'] }],
  [
    { origins: 'http://foo.example, http://bar.example:8080' },
    { ...NONE, origins: ['http://foo.example', 'http://bar.example:8080'] },
  ],
  [
    {
      origins: ['HTTPS://Foo.Example:443/', 'http://foo.example:443', 'https://*.foo.example:8443'],
    },
    {
      ...NONE,
      origins: ['https://foo.example', 'http://foo.example:443', 'https://*.foo.example:8443'],
    },
  ],
  [
    { origins: ['http://[::1]:80', 'app://x:80'] },
    { ...NONE, origins: ['http://[::1]', 'app://x:80'] },
  ],
  [
    {
      origins: 'https://a.example',
      methods: 'get, POST',
      headers: ['*'],
      exposed_headers: 'X-A,x-b',
    },
    {
      ...NONE,
      origins: ['https://a.example'],
      methods: ['GET', 'POST'],
      headers: ['*'],
      exposed_headers: ['X-A', 'x-b'],
    },
  ],
  [
    { origins: 'https://*.a.example', credentials: true, max_age: '86400' },
    { ...NONE, origins: ['https://*.a.example'], credentials: true, max_age: 86400 },
  ],
  [
    { origins: '*', max_age: 0 },
    { ...NONE, origins: ['*'], max_age: 0 },
  ],
];

for (const [written, expected] of READ) {
  test(`cors ${JSON.stringify(written)} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(read(written), expected);
    assert.deepEqual(problemsOf('Mapping', mappingWith(written)), []);
  });
}

const FORM = 'write `*`, scheme://host or scheme://host:port, without a path';
const AGE = 'must be a number of seconds from 0 to 2147483647';
const REFUSED: readonly [written: object, problem: string][] = [
  [
    { origins: ['https://a.example/x'] },
    `error spec.cors.origins[0]: Cannot parse origin "https://a.example/x": ${FORM}`,
  ],
  [{ origins: 'a.example' }, `error spec.cors.origins: Cannot parse origin "a.example": ${FORM}`],
  [{ origins: ['a://u:p@b'] }, `error spec.cors.origins[0]: Cannot parse origin: ${FORM}`],
  [
    { origins: ['https://a.*.example'] },
    `error spec.cors.origins[0]: Cannot parse origin "https://a.*.example": ${FORM}`,
  ],
  [
    { origins: 5 },
    'error spec.cors.origins: `origins` must be a list of origins, or a string with commas between them, not 5',
  ],
  [
    { origins: '*', methods: 'GET, A B' },
    'error spec.cors.methods: "A B" is not a request method: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [
    { origins: '*', headers: ['x:y'] },
    'error spec.cors.headers[0]: "x:y" is not a header name: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [{ origins: '*', max_age: '1h' }, `error spec.cors.max_age: \`max_age\` ${AGE}, not "1h"`],
  [{ origins: '*', max_age: -1 }, `error spec.cors.max_age: \`max_age\` ${AGE}, not -1`],
];

for (const [written, problem] of REFUSED) {
  test(`a Mapping with cors ${JSON.stringify(written)} is rejected`, () => {
    assert.deepEqual(problemsOf('Mapping', mappingWith(written)), [problem]);
    assert.equal(read(written), undefined);
  });
}

const UNMATCHED = 'preflights do not match it: give `cors` to a Mapping that matches OPTIONS here';

const NO_CREDENTIALS: readonly [written: { origins: unknown }, open: string][] = [
  [{ origins: '*' }, '*'],
  [{ origins: ['https://a.example', 'null'] }, 'null'],
  [{ origins: 'https://*.co.uk' }, 'https://*.co.uk'],
];

for (const [written, open] of NO_CREDENTIALS) {
  test(`credentials with ${JSON.stringify(written)} do not count`, () => {
    assert.deepEqual(problemsOf('Mapping', mappingWith({ ...written, credentials: true })), [
      `warning spec.cors.credentials: \`credentials\` does not count with the origin \`${open}\`: any site could act as the client. List the origins`,
    ]);
  });
}

const WARNED: readonly [written: object, more: object, problem: string][] = [
  [{ methods: 'GET' }, {}, 'warning spec.cors.origins: no origin may read the answers'],
  [{ origins: '' }, {}, 'warning spec.cors.origins: no origin may read the answers'],
  [{ origins: '*' }, { method: 'PUT' }, `warning spec.method: ${UNMATCHED}`],
  [{ origins: '*' }, { headers: { 'x-a': true } }, `warning spec.headers.x-a: ${UNMATCHED}`],
  [
    { origins: '*', origin: 'a' },
    {},
    'warning spec.cors.origin: unknown field `origin`, did you mean `origins`?',
  ],
];

for (const [written, more, problem] of WARNED) {
  test(`cors ${JSON.stringify(written)} beside ${JSON.stringify(more)} has a warning`, () => {
    assert.deepEqual(problemsOf('Mapping', mappingWith(written, more)), [problem]);
  });
}

test('credentials for any origin are rejected by another field, too', () => {
  const add_response_headers = { 'Access-Control-Allow-Credentials': 'true' };
  assert.deepEqual(problemsOf('Mapping', mappingWith({ origins: '*' }, { add_response_headers })), [
    'error spec.add_response_headers.access-control-allow-credentials: with `cors` for any origin it would let any site act as the client',
  ]);
  const listed = { origins: 'https://a.example' };
  assert.deepEqual(problemsOf('Mapping', mappingWith(listed, { add_response_headers })), []);
});

test('preflights match by host, scheme and origin', () => {
  const more = { method: 'OPTIONS', headers: { Host: 'a.example', Origin: 'https://a.example' } };
  assert.deepEqual(problemsOf('Mapping', mappingWith({ origins: '*' }, more)), []);
});
