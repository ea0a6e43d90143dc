import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findType } from '#protos/root.ts';
import { parseCheckRequest } from './check-request.ts';
import { type CheckMessage, decodeCheck } from './decode-check.ts';

const HTTP = { method: 'GET', scheme: 'https', host: 'site.test', path: '/a?b' };

/** As it comes from the wire. */
function decoded(http: object | undefined, source: object = {}): CheckMessage {
  const type = findType('envoy.service.auth.v3.CheckRequest');
  const message = { attributes: { source, ...(http === undefined ? {} : { request: { http } }) } };
  return decodedBytes(type?.encode(type.fromObject(message)).finish());
}

const parse = (http: object) => {
  const parsed = parseCheckRequest(decoded({ ...HTTP, ...http }), undefined);
  return 'error' in parsed ? parsed.error : parsed.value;
};

const requestOf = (http: object) => {
  const value = parse(http);
  assert.ok(typeof value === 'object', String(value));
  return value;
};

const field = (key: string, bytes: string, encoding: BufferEncoding = 'utf8') => ({
  key,
  raw_value: Buffer.from(bytes, encoding),
});

test('method, scheme, authority and target are as Envoy says', () => {
  const { method, scheme, authority, target } = requestOf({});
  assert.deepEqual([method, scheme, authority, target], ['GET', 'https', 'site.test', '/a?b']);
});

for (const [host, authority] of [
  ['Site.TEST', 'site.test'],
  ['site.test.', 'site.test'],
  ['site.test:443', 'site.test'],
  ['site.test.:443', 'site.test'],
  ['site.test:80', 'site.test:80'],
  ['site.test.:8443', 'site.test:8443'],
  ['[2001:DB8::1]:443', '[2001:db8::1]'],
] as const) {
  test(`the authority of ${host} over https is ${authority}`, () => {
    assert.equal(requestOf({ host }).authority, authority);
  });
}

for (const [what, http] of [
  ['no method', { method: '' }],
  ['a method with a space', { method: 'GET /x' }],
  ['another scheme', { scheme: 'ftp' }],
  ['no host', { host: '' }],
  ['a host with a user', { host: 'user@site.test' }],
  ['a host with a space', { host: 'a b' }],
  ['two hosts (RFC 9112 section 3.2), as Envoy joins them', { host: 'a.test,b.test' }],
  ['a host with a line break', { host: 'a\r\nb' }],
  ['a host of 600 characters', { host: 'a'.repeat(600) }],
  ['a port with letters', { host: 'a:b' }],
  ['no path', { path: '' }],
  ['a path that is a URL', { path: 'http://site.test/' }],
  ['a path that is *', { path: '*' }],
] as const) {
  test(`${what} is malformed, and said without what was sent`, () => {
    const error = parse(http);
    assert.equal(typeof error, 'string');
    for (const sent of Object.values(http))
      assert.ok(sent.length < 4 || !String(error).includes(sent));
  });
}

function decodedBytes(bytes: Uint8Array = new Uint8Array()): CheckMessage {
  const message = decodeCheck(Buffer.from(bytes));
  assert.ok(message !== undefined);
  return message;
}

for (const [what, message] of [
  ['an empty message', decodedBytes()],
  ['one with empty attributes', decodedBytes(Buffer.from('0a00', 'hex'))],
  ['one of a request without http', decodedBytes(Buffer.from('0a022200', 'hex'))],
  ['one of a connection', decoded(undefined)],
] as const) {
  test(`${what} is not an HTTP request`, () => {
    assert.deepEqual(parseCheckRequest(message, undefined), { error: 'it is not an HTTP request' });
  });
}

test('headers are raw, repeated ones apart, names in lower case, pseudo-headers left out', () => {
  const headers = [
    field(':path', '/other'),
    field('Cookie', 'a=1'),
    field('cookie', 'b=2'),
    field('x-name', 'J\u00fcrgen'),
    field('x-latin', 'J\u00fcrgen', 'latin1'),
    { key: 'x-empty' },
    field('__proto__', '1'),
    field('constructor', '2'),
    field('', 'nameless'),
  ];
  assert.deepEqual(
    [...requestOf({ header_map: { headers } }).headers],
    [
      ['cookie', ['a=1', 'b=2']],
      ['x-name', ['J\u00fcrgen']],
      ['x-latin', ['J\u00fcrgen']],
      ['x-empty', ['']],
      ['__proto__', ['1']],
      ['constructor', ['2']],
    ],
  );
});

test('a cookie is one character a byte', () => {
  const headers = [field('cookie', 'a=\u00e9')];
  assert.deepEqual(requestOf({ header_map: { headers } }).headers.get('cookie'), [
    'a=\u00c3\u00a9',
  ]);
});

test("the id is Envoy's request id, if it can stand in a log", () => {
  const id = (text: string) =>
    requestOf({ id: 'stream', header_map: { headers: [field('x-request-id', text)] } }).id;
  assert.equal(id('1f-2'), '1f-2');
  assert.equal(id('a b\u001b[0m'), '');
  assert.equal(id('x'.repeat(1000)).length, 128);
  assert.equal(requestOf({ id: 'stream' }).id, '');
});

test("the client address is Envoy's, else the connection's", () => {
  const source = { address: { socket_address: { address: '192.0.2.1', port_value: 1 } } };
  const address = (told: string | undefined) => {
    const parsed = parseCheckRequest(decoded(HTTP, source), told);
    return 'value' in parsed ? parsed.value.clientAddress : undefined;
  };
  assert.equal(address('198.51.100.7'), '198.51.100.7');
  assert.equal(address(undefined), '192.0.2.1');
});

test('the body is the raw one', () => {
  assert.deepEqual([...requestOf({ raw_body: Buffer.from([0, 255]) }).body], [0, 255]);
  assert.equal(requestOf({}).body.length, 0);
});
