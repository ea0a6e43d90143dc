import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { checkCertificateName } from './check-name.ts';

const AUTHORITY = await testAuthority();

for (const [names, hostname, isFor] of [
  [['a.example.com'], 'a.example.com', true],
  [['A.Example.com'], 'a.example.com', true],
  [['b.example.com', 'a.example.com'], 'a.example.com', true],
  [['*.example.com'], 'a.example.com', true],
  [['*.example.com'], '*.example.com', true],
  [['*.Example.com'], '*.example.com', true],
  [['*.example.com'], 'a.b.example.com', false],
  [['*.example.com'], 'example.com', false],
  [['a.example.com'], '*.example.com', false],
  [['b.example.com'], 'a.example.com', false],
  [['spiffe://a.example.com/x'], 'a.example.com', false],
  [[], 'a.example.com', false],
  [['a.example.com'], '*', true],
] as const) {
  test(`a certificate for ${names.join(' and ') || 'nobody'} is ${isFor ? '' : 'not '}for ${hostname}`, async () => {
    const { certificate } = await AUTHORITY.issue(names);
    assert.equal(checkCertificateName(certificate, hostname).length, isFor ? 0 : 1);
  });
}

test('what is no certificate is judged elsewhere', () => {
  assert.deepEqual(checkCertificateName('none', 'a.example.com'), []);
});
