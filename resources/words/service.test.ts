import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseService } from './service.ts';

const SERVICES: readonly [text: string, scheme: string, host: string, port: number][] = [
  ['user', 'http', 'user', 80],
  ['user.default', 'http', 'user.default', 80],
  ['user:5000', 'http', 'user', 5000],
  ['HTTP://User:5000', 'http', 'user', 5000],
  ['https://user.example.com', 'https', 'user.example.com', 443],
  ['https://user:8443', 'https', 'user', 8443],
  ['https://user/', 'https', 'user', 443],
  ['127.0.0.1:5000', 'http', '127.0.0.1', 5000],
  ['[::1]:5000', 'http', '::1', 5000],
  ['[2001:DB8::1]', 'http', '2001:db8::1', 80],
  ['::1', 'http', '::1', 80],
  ['my_container-1:1', 'http', 'my_container-1', 1],
  ['example.com.', 'http', 'example.com', 80],
  ['user:65535', 'http', 'user', 65535],
  ['user:80', 'http', 'user', 80],
];

for (const [text, scheme, host, port] of SERVICES) {
  test(`service ${text}`, () => {
    const portGiven = /[^:]:\d+$/.test(text);
    assert.deepEqual(parseService(text), { value: { scheme, host, port, portGiven } });
  });
}

const LABEL = 'may have letters, digits, "-" and "_" only, and no "-" at its ends';
const WRONG: readonly [text: string, reason: string][] = [
  ['', 'it names no host. Write [http://|https://]name[.namespace][:port]'],
  ['http://', 'it names no host. Write [http://|https://]name[.namespace][:port]'],
  ['tcp://a:1', 'the scheme "tcp" is neither http nor https'],
  ['http://a/b', 'it has a path. Use `rewrite` for paths'],
  ['http://a//', 'it has a path. Use `rewrite` for paths'],
  ['a:', 'the port "" is not a number from 1 to 65535'],
  ['a:0', 'the port "0" is not a number from 1 to 65535'],
  ['a:65536', 'the port "65536" is not a number from 1 to 65535'],
  ['a:1:2', 'the port "1:2" is not a number from 1 to 65535'],
  ['a:+80', 'the port "+80" is not a number from 1 to 65535'],
  ['-a', `"-a" is not a host name: "-a" ${LABEL}`],
  ['a b', `"a b" is not a host name: "a b" ${LABEL}`],
  ['a\nb', `"a\nb" is not a host name: "a\nb" ${LABEL}`],
  ['a..b', '"a..b" is not a host name: a part between its dots is empty'],
  ['[::1', '"[::1" has no IPv6 address in its brackets'],
  ['[user]:80', '"[user]:80" has no IPv6 address in its brackets'],
  ['1.2.3', '"1.2.3" is neither a host name nor an IP address'],
  ['256.1.1.1:80', '"256.1.1.1" is neither a host name nor an IP address'],
  [
    `${'a'.repeat(64)}.b`,
    `"${'a'.repeat(64)}.b" is not a host name: a part has 64 characters, 63 are allowed`,
  ],
  [`${'a.'.repeat(127)}aa`, 'the host name has 256 characters, 253 are allowed'],
];

for (const [text, reason] of WRONG) {
  test(`service ${JSON.stringify(text.slice(0, 40))} is rejected`, () => {
    assert.deepEqual(parseService(text), { error: `Cannot parse service "${text}": ${reason}` });
  });
}

test('a password in a service is rejected and not shown', () => {
  const error = 'Cannot parse service: it may not have a user name or password ("@")';
  assert.deepEqual(parseService('http://user:hunter2@host:80'), { error });
});
