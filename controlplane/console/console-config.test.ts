import assert from 'node:assert/strict';
import { test } from 'node:test';
import { variablesOf } from '#process/environment.ts';
import { readConsole } from './console-config.ts';
import { visitorOf } from './visitor.ts';

const LOGIN = {
  CONSOLE: 'login',
  CONSOLE_ISSUER: 'https://login.example.com',
  CONSOLE_AUDIENCE: 'console',
  CONSOLE_VIEWERS: 'groups=dev, email=ada@example.com',
};
const read = (env: Record<string, string>, host = '0.0.0.0') => readConsole(variablesOf(env), host);

test('the console is open on the loopback, and elsewhere off', () => {
  assert.equal(read({}, '127.0.0.1'), 'open');
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'gateway.example.com'])
    assert.equal(read({}, host), 'off');
  assert.equal(read({ CONSOLE: 'off' }, '127.0.0.1'), 'off');
});

test('a login that is not whole ends the start', () => {
  const wrong: readonly Record<string, string>[] = [
    { CONSOLE: 'on' },
    { CONSOLE: 'open' },
    { CONSOLE: 'login' },
    { ...LOGIN, CONSOLE_ISSUER: 'http://login.example.com' },
    { ...LOGIN, CONSOLE_ISSUER: 'https://user:pass@login.example.com' },
    { ...LOGIN, CONSOLE_ISSUER: 'login.example.com' },
    { ...LOGIN, CONSOLE_AUDIENCE: '' },
    { ...LOGIN, CONSOLE_VIEWERS: '' },
    { ...LOGIN, CONSOLE_VIEWERS: 'dev' },
    { ...LOGIN, CONSOLE_VIEWERS: '=dev' },
    { ...LOGIN, CONSOLE_VIEWERS: 'groups=' },
    { ...LOGIN, CONSOLE_OPERATORS: 'groups' },
  ];
  for (const env of wrong) assert.throws(() => read(env), /CONSOLE/, JSON.stringify(env));
});

test('only claims that are written let somebody in', () => {
  const login = read({ ...LOGIN, CONSOLE_OPERATORS: 'groups=ops' });
  assert.ok(typeof login === 'object');
  const visit = (claims: object) => {
    const visitor = visitorOf({ sub: 'x', exp: 5, ...claims }, login);
    return 'error' in visitor ? visitor.status : [visitor.name, visitor.mayAct];
  };
  assert.deepEqual(visit({ groups: ['dev'] }), ['x', false]);
  assert.deepEqual(visit({ groups: 'dev' }), ['x', false]);
  assert.deepEqual(visit({ groups: ['a', 'ops'], email: 'o@example.com' }), [
    'o@example.com',
    true,
  ]);
  for (const verified of [{ email_verified: true }, { email_verified: 'true' }, {}])
    assert.deepEqual(visit({ email: 'ada@example.com', ...verified }), ['ada@example.com', false]);
  for (const claims of [
    {},
    { groups: [] },
    { groups: ['developers'] },
    { groups: ['DEV'] },
    { groups: { dev: true } },
    { groups: 'dev,ops' },
    { email: 'ada@example.com', email_verified: false },
    { email: 'ada@example.com', email_verified: 'false' },
    { email: 'ada@example.com', email_verified: 0 },
    { email: 'ada@example.com', email_verified: null },
    { email: 'ada@example.com.evil.example' },
    { constructor: 'dev' },
  ])
    assert.equal(visit(claims), 403, JSON.stringify(claims));
});
