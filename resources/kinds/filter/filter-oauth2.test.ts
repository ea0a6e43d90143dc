import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE, CREDENTIALS, PASSWORD, problems, read } from '#resources/testing/oauth2-filter.ts';
import type { OAuth2Spec } from './filter-oauth2.ts';
import { protectedOriginsOf } from './filter-oauth2-origins.ts';

test('what is left out has its default', () => {
  const { secret, ...rest } = read(CODE);
  assert.deepEqual(rest, {
    authorizationURL: 'https://idp.example.com',
    grantType: 'AuthorizationCode',
    expirationSafetyMargin: 0,
    clientAuthentication: { method: 'HeaderPassword' },
    clientID: 'me',
    protectedOrigins: [
      {
        origin: { scheme: 'https', host: 'app.example.com', port: 443 },
        internalOrigin: { scheme: 'https', host: 'app.example.com', port: 443 },
        includeSubdomains: false,
      },
    ],
    useSessionCookies: { value: false },
    extraAuthorizationParameters: {},
    clientSessionMaxIdle: 14 * 24 * 3_600_000,
    allowMalformedAccessToken: false,
    accessTokenValidation: 'auto',
    injectRequestHeaders: [],
    insecureTLS: false,
    renegotiateTLS: 'never',
    maxStale: 0,
  });
});

for (const settings of [CODE, PASSWORD, CREDENTIALS]) {
  test(`the least that ${'grantType' in settings ? settings.grantType : 'AuthorizationCode'} needs is enough`, () => {
    assert.deepEqual(problems(settings), []);
  });
}

const REQUIRED: readonly [field: string, from: object, problem: string | undefined][] = [
  [
    'authorizationURL',
    CODE,
    'error authorizationURL: `authorizationURL` is required: an http:// or https:// URL',
  ],
  ['clientID', CODE, 'error clientID: `clientID` is required: a string'],
  ['clientID', PASSWORD, 'error clientID: `clientID` is required: a string'],
  [
    'secret',
    CODE,
    'error secret: `secret` or `secretName` is required: the client secret, or the name of the Secret that has it',
  ],
  [
    'secret',
    PASSWORD,
    'error secret: `secret` or `secretName` is required: the client secret, or the name of the Secret that has it',
  ],
  [
    'protectedOrigins',
    CODE,
    'error protectedOrigins: `protectedOrigins` is required: a list of at least one origin',
  ],
];

for (const [field, from, problem] of REQUIRED) {
  test(`${field} is required for ${'grantType' in from ? from.grantType : 'AuthorizationCode'}`, () => {
    assert.deepEqual(problems({ ...from, [field]: undefined }), [problem]);
  });
}

test('everything that is wrong is told at once', () => {
  const settings = {
    grantType: 'AuthorizationCode',
    maxStale: '5x',
    secret: 'a',
    secretName: 'b',
    clientURL: 'https://a.b',
  };
  assert.deepEqual(
    problems(settings).map(line => line.split(':')[0]),
    [
      'error authorizationURL',
      'error maxStale',
      'error clientID',
      'warning clientURL',
      'error secretName',
    ],
  );
});

/** One row for each setting: what may be written, and what it means. */
const ACCEPTED: readonly [settings: object, field: keyof OAuth2Spec, value: unknown][] = [
  [{ grantType: 'AuthorizationCode' }, 'grantType', 'AuthorizationCode'],
  [{ expirationSafetyMargin: '1m30s' }, 'expirationSafetyMargin', 90_000],
  [
    { clientAuthentication: { method: 'BodyPassword' } },
    'clientAuthentication',
    { method: 'BodyPassword' },
  ],
  [{ clientAuthentication: {} }, 'clientAuthentication', { method: 'HeaderPassword' }],
  [{ secret: undefined, secretName: 's', secretNamespace: 'n' }, 'secretNamespace', 'n'],
  [{ useSessionCookies: {} }, 'useSessionCookies', { value: true }],
  [{ useSessionCookies: { value: false } }, 'useSessionCookies', { value: false }],
  [
    { useSessionCookies: { ifRequestHeader: { name: 'X-Kiosk' } } },
    'useSessionCookies',
    { value: true, ifRequestHeader: { name: 'x-kiosk', negate: false } },
  ],
  [
    { extraAuthorizationParameters: { prompt: 'login' } },
    'extraAuthorizationParameters',
    { prompt: 'login' },
  ],
  [{ clientSessionMaxIdle: '1h' }, 'clientSessionMaxIdle', 3_600_000],
  [{ decisionCache: '1ms' }, 'decisionCache', 1],
  [{ decisionCache: '1m' }, 'decisionCache', 60_000],
  [
    { postLogoutRedirectURI: 'https://a.b/bye?x=1' },
    'postLogoutRedirectURI',
    'https://a.b/bye?x=1',
  ],
  [{ allowMalformedAccessToken: true }, 'allowMalformedAccessToken', true],
  [{ accessTokenValidation: 'userinfo' }, 'accessTokenValidation', 'userinfo'],
  [{ accessTokenValidation: '' }, 'accessTokenValidation', 'auto'],
  [{ accessTokenValidation: null }, 'accessTokenValidation', 'auto'],
  [
    { accessTokenJWTFilter: { name: 'j' } },
    'accessTokenJWTFilter',
    { name: 'j', inheritScopeArgument: false, stripInheritedScope: false, arguments: {} },
  ],
  [
    {
      accessTokenJWTFilter: {
        name: 'j',
        namespace: 'n',
        inheritScopeArgument: true,
        stripInheritedScope: true,
        arguments: { scope: ['a', 'b', 'a'] },
      },
    },
    'accessTokenJWTFilter',
    {
      name: 'j',
      namespace: 'n',
      inheritScopeArgument: true,
      stripInheritedScope: true,
      arguments: { scope: ['a', 'b'] },
    },
  ],
  [
    { injectRequestHeaders: [{ name: 'X-User', value: '{{ .token.Claims.sub }}' }] },
    'injectRequestHeaders',
    [{ name: 'x-user', value: '{{ .token.Claims.sub }}' }],
  ],
  [
    { injectRequestHeaders: [{ name: 'Authorization', value: 'x' }] },
    'injectRequestHeaders',
    [{ name: 'authorization', value: 'x' }],
  ],
  [{ renegotiateTLS: 'onceAsClient' }, 'renegotiateTLS', 'onceAsClient'],
  [{ renegotiateTLS: 'freelyAsClient' }, 'renegotiateTLS', 'freelyAsClient'],
  [{ maxStale: '300ms' }, 'maxStale', 300],
  [{ maxStale: 0 }, 'maxStale', 0],
];

for (const [settings, field, value] of ACCEPTED) {
  test(`${JSON.stringify(settings)} is taken`, () => {
    assert.deepEqual(read({ ...CODE, ...settings })[field], value);
    assert.deepEqual(problems({ ...CODE, ...settings }), []);
  });
}

test('clientURL is one protected origin with the internal origin *://*', () => {
  const settings = { ...CODE, protectedOrigins: undefined, clientURL: 'https://app.example.com/x' };
  assert.deepEqual(protectedOriginsOf(read(settings)), [
    {
      origin: { scheme: 'https', host: 'app.example.com', port: 443 },
      internalOrigin: { scheme: '*', host: '*' },
      includeSubdomains: false,
    },
  ]);
  assert.deepEqual(problems(settings), [
    'warning clientURL: an origin has no path: what follows the host "/x" has no effect, and all paths are meant',
    'warning clientURL: `clientURL` is deprecated. Write `protectedOrigins` with one item of this `origin` and internalOrigin `*://*`',
  ]);
});

test('other grant types have no protected origins', () => {
  assert.deepEqual(
    protectedOriginsOf(read({ ...PASSWORD, protectedOrigins: CODE.protectedOrigins })),
    [],
  );
});
