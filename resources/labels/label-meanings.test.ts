import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparableForms } from './label-meanings.ts';

const forms = comparableForms({
  hostKeys: ['host', '__proto__'],
  pathKeys: ['path'],
  prefixes: { ipv4: 32, ipv6: 64 },
});

const SAME: readonly (readonly [key: string, value: string, ...spellings: string[]])[] = [
  [
    'host',
    'a.example',
    'A.Example',
    'a.example:8080',
    'a.example.',
    'A.EXAMPLE.:443',
    'a.example:',
  ],
  ['host', '[::1]', '[::1]:80'],
  ['__proto__', 'a', 'A:1'],
  [
    'path',
    '/login',
    '/login?x=1',
    '/login?',
    '/login/',
    '/LOGIN',
    '/login;x=1',
    '/login;x/;y?z',
    '/;a/login#b',
  ],
  // Envoy leaves the first two. An upstream that cuts parameters resolves what is left.
  ['path', '/login', '/x1/..;/login', '/.;/login/.;', '/x2%2f..%2flogin', '/../login/x;/..;y/'],
  ['path', '/', '/?', '/;x', '//', '/;/', '/x/..;/'],
  ['path', '/a/b', '/a;1/b;2', '/A/B/?/c', '/a%2fb', '/a%5Cb/', '/a%3b1/b%3B2'],
  ['path', "/me@home:!$&'()*+,=", '/me%40home%3A%21%24%26%27%28%29%2A%2B%2C%3d'],
  ['path', '/%c3%a9%20', '/%C3%A9%20', '/é%20'],
  ['remote_address', '2001:db8::/64', '2001:db8::1', '2001:DB8:0:0:1:2:3:4'],
  ['remote_address', '192.0.2.1', '::ffff:192.0.2.1'],
];
for (const [key, value, ...spellings] of SAME)
  test(`${key} ${value} is also ${spellings.join(' and ')}`, () => {
    for (const spelling of [value, ...spellings])
      assert.equal(forms.get(key)?.(spelling), value, spelling);
  });

test('other things are others', () => {
  assert.notEqual(forms.get('path')?.('/login/x'), '/login');
  assert.notEqual(forms.get('host')?.('b.a.example'), 'a.example');
  assert.equal(forms.get('path')?.('*'), '*');
  assert.equal(forms.get('header'), undefined);
});

test('a long path of slashes and parameters takes no long time', () => {
  const begun = performance.now();
  forms.get('path')?.(`${'/'.repeat(60_000)};${';'.repeat(60_000)}x`);
  forms.get('host')?.(`${':1'.repeat(30_000)}x`);
  assert.ok(performance.now() - begun < 1_000);
});
