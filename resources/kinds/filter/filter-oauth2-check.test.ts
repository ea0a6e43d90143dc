import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE, CREDENTIALS, PASSWORD, problems } from '#resources/testing/oauth2-filter.ts';

const REFUSED: readonly [settings: object, problem: string][] = [
  [
    { authorizationURL: 'idp.example.com' },
    'error authorizationURL: Cannot parse url "idp.example.com": it must begin with http:// or https:// and a host',
  ],
  [
    { authorizationURL: 'https://idp.example.com/realm/.well-known/openid-configuration' },
    'error authorizationURL: `authorizationURL` is the provider\'s issuer, without "/.well-known/openid-configuration"',
  ],
  [
    { grantType: 'Implicit' },
    'error grantType: `grantType` must be one of `AuthorizationCode`, `Password`, `ClientCredentials`, not "Implicit"',
  ],
  [
    { expirationSafetyMargin: '1d' },
    'error expirationSafetyMargin: Cannot parse duration "1d": unknown unit "d". There are ns, us, ms, s, m and h',
  ],
  [{ clientID: '' }, 'error clientID: `clientID` must not be empty'],
  [{ clientID: 5 }, 'error clientID: `clientID` must be a string, not 5'],
  [{ secret: '' }, 'error secret: `secret` must not be empty'],
  [{ secret: '\n' }, 'error secret: `secret` must not be empty'],
  [{ secretName: 's' }, 'error secretName: `secret` and `secretName` exclude each other. Keep one'],
  [
    { clientURL: 'https://a.b' },
    'error clientURL: `clientURL` and `protectedOrigins` exclude each other. Keep `protectedOrigins`',
  ],
  [{ protectedOrigins: [] }, 'error protectedOrigins: `protectedOrigins` must not be empty'],
  [
    { useSessionCookies: true },
    'error useSessionCookies: `useSessionCookies` must be a map, not true',
  ],
  [
    { useSessionCookies: { ifRequestHeader: { name: 'a', value: 'x', valueRegex: 'y' } } },
    'error useSessionCookies.ifRequestHeader.valueRegex: `value` and `valueRegex` exclude each other. Keep one',
  ],
  [
    { extraAuthorizationParameters: { prompt: 1 } },
    'error extraAuthorizationParameters.prompt: `prompt` must be a string, not 1',
  ],
  [
    { extraAuthorizationParameters: { '': 'x' } },
    'error extraAuthorizationParameters[""]: "" may not be a key here: a name is not empty',
  ],
  [
    { extraAuthorizationParameters: JSON.parse('{"__proto__": "x"}') },
    'error extraAuthorizationParameters.__proto__: "__proto__" may not be a key here',
  ],
  [
    { clientSessionMaxIdle: '0' },
    'error clientSessionMaxIdle: Cannot parse duration "0": it must be longer than 0',
  ],
  [
    { decisionCache: '0' },
    'error decisionCache: Cannot parse duration "0": it must be longer than 0',
  ],
  ...['61s', '1h', '999us'].map((decisionCache): [object, string] => [
    { decisionCache },
    'error decisionCache: `decisionCache` is from 1ms to 60s: a logout counts only after it',
  ]),
  [
    { postLogoutRedirectURI: '/bye' },
    'error postLogoutRedirectURI: Cannot parse url "/bye": it must begin with http:// or https:// and a host',
  ],
  [
    { accessTokenValidation: 'JWT' },
    'error accessTokenValidation: "JWT" is none of `auto`, `jwt`, `userinfo`, did you mean `jwt`?',
  ],
  [
    { accessTokenValidation: 'userinfo', accessTokenJWTFilter: { name: 'j' } },
    'error accessTokenJWTFilter: `accessTokenJWTFilter` and accessTokenValidation `userinfo` exclude each other',
  ],
  [{ accessTokenJWTFilter: {} }, 'error accessTokenJWTFilter.name: `name` is required: a string'],
  [
    { accessTokenJWTFilter: { name: 'j', arguments: { sameSite: 'lax' } } },
    'error accessTokenJWTFilter.arguments.sameSite: unknown field `sameSite`',
  ],
  [
    { injectRequestHeaders: [{ name: 'X-User' }] },
    'error injectRequestHeaders[0].value: `value` is required: a string',
  ],
  [
    { injectRequestHeaders: [{ value: 'x' }] },
    'error injectRequestHeaders[0].name: `name` is required: a string',
  ],
  [
    { renegotiateTLS: 'always' },
    'error renegotiateTLS: `renegotiateTLS` must be one of `never`, `onceAsClient`, `freelyAsClient`, not "always"',
  ],
  [{ insecureTLS: 'yes' }, 'error insecureTLS: `insecureTLS` must be `true` or `false`, not "yes"'],
  [
    { acessTokenValidation: 'jwt' },
    'error acessTokenValidation: unknown field `acessTokenValidation`, did you mean `accessTokenValidation`?',
  ],
];

for (const [settings, problem] of REFUSED) {
  test(`${JSON.stringify(settings)} is rejected`, () => {
    assert.deepEqual(
      problems({ ...CODE, ...settings }).filter(line => line.startsWith('error')),
      [problem],
    );
  });
}

const OWN_PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'request',
  'request_uri',
  'Nonce',
  'REDIRECT_URI',
];

for (const name of OWN_PARAMETERS) {
  test(`the authorization parameter ${name} is the gateway's own`, () => {
    assert.deepEqual(problems({ ...CODE, extraAuthorizationParameters: { [name]: 'x' } }), [
      `error extraAuthorizationParameters.${name}: the parameter \`${name}\` is the gateway's own and may not be set`,
    ]);
  });
}

const OWN_HEADERS = [
  'Host',
  ':path',
  ':authority',
  'Cookie',
  'Content-Length',
  'Transfer-Encoding',
  'Connection',
  'Upgrade',
  'TE',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'x_forwarded_for',
  'X-Envoy-Original-Path',
  'X-Request-Id',
  'X-Gateway-Client-ID',
  'X-Gateway-Client-Secret',
  'X-Gateway-Client-Assertion',
  'X-Gateway-Username',
  'X-Gateway_Password',
];

for (const name of OWN_HEADERS) {
  test(`the header ${name} may not be injected`, () => {
    assert.deepEqual(problems({ ...CODE, injectRequestHeaders: [{ name, value: 'x' }] }), [
      `error injectRequestHeaders[0].name: a Filter may not set the header "${name}"`,
    ]);
  });
}

for (const name of ['', 'a b', 'a:b', 'a\r\nb', '\u212aelvin', 'a\u0000']) {
  test(`${JSON.stringify(name)} is not the name of a header`, () => {
    const [problem = ''] = problems({ ...CODE, injectRequestHeaders: [{ name, value: 'x' }] });
    assert.match(problem, /^error injectRequestHeaders\[0\]\.name: .* is not a header name/s);
  });
}

test('a header template with a mistake is rejected', () => {
  const [problem = ''] = problems({
    ...CODE,
    injectRequestHeaders: [{ name: 'a', value: '{{ .token' }],
  });
  assert.match(problem, /^error injectRequestHeaders\[0\]\.value: .*unclosed action/);
});

test('the function json is for bodies, not for headers', () => {
  const [problem = ''] = problems({
    ...CODE,
    injectRequestHeaders: [{ name: 'a', value: '{{ json "" . }}' }],
  });
  assert.match(problem, /^error injectRequestHeaders\[0\]\.value: .*json/);
});

test('`caSecret` beside `insecureTLS` is rejected: nothing would be verified', () => {
  assert.equal(
    problems({ ...CODE, caSecret: 'authority', insecureTLS: true })[0],
    'error insecureTLS: `caSecret` and `insecureTLS` exclude each other: no certificate is verified',
  );
});

test('`caSecret` is the name of a Secret, or a reference', () => {
  for (const caSecret of ['authority', { name: 'authority', namespace: 'shop' }])
    assert.deepEqual(problems({ ...CODE, caSecret }), []);
  assert.match(problems({ ...CODE, caSecret: '/etc/ca.crt' })[0] ?? '', /^error caSecret: /);
});

const WARNED: readonly [settings: object, warning: string][] = [
  [
    { authorizationURL: 'http://127.0.0.1:1', caSecret: 'authority' },
    'caSecret: `caSecret` has no effect: `authorizationURL` is not https',
  ],
  [
    { authorizationURL: 'http://idp.example.com' },
    'authorizationURL: http without TLS: an attacker on the way can read and change what is sent',
  ],
  [
    { insecureTLS: true },
    'insecureTLS: the certificate is not verified: an attacker on the way can pretend to be the provider',
  ],
  [
    { authorizationURL: 'http://127.0.0.1:1', insecureTLS: true },
    'insecureTLS: `insecureTLS` has no effect: `authorizationURL` is not https',
  ],
  [
    { authorizationURL: 'http://[::1]:1', renegotiateTLS: 'onceAsClient' },
    'renegotiateTLS: `renegotiateTLS` has no effect: `authorizationURL` is not https',
  ],
  [
    { protectedOrigins: [{ origin: 'http://app.example.com' }] },
    'protectedOrigins[0].origin: http without TLS: an attacker on the way can take over a session',
  ],
  [
    { expirationSafetyMargin: '-1.5h' },
    'expirationSafetyMargin: `expirationSafetyMargin` is less than 0, which counts as 0',
  ],
  [{ maxStale: '-300ms' }, 'maxStale: `maxStale` is less than 0, which counts as 0'],
  [{ secret: 'hunter2\n' }, 'secret: the line break at its end is cut'],
  [
    { secretNamespace: 'n' },
    'secretNamespace: `secretNamespace` has no effect without `secretName`',
  ],
  [
    { accessTokenJWTFilter: { name: 'j', stripInheritedScope: true } },
    'accessTokenJWTFilter.stripInheritedScope: `stripInheritedScope` has no effect without `inheritScopeArgument`',
  ],
  [
    {
      injectRequestHeaders: [
        { name: 'A', value: '1' },
        { name: 'a', value: '2' },
      ],
    },
    'injectRequestHeaders[1].name: the header "a" is set twice. The first counts',
  ],
];

for (const [settings, warning] of WARNED) {
  test(`${JSON.stringify(settings)} is taken with a warning`, () => {
    assert.deepEqual(problems({ ...CODE, ...settings }), [`warning ${warning}`]);
  });
}

const ONLY_FOR_CODE = {
  clientURL: 'https://a.b',
  protectedOrigins: CODE.protectedOrigins,
  useSessionCookies: {},
  extraAuthorizationParameters: { prompt: 'login' },
  postLogoutRedirectURI: 'https://a.b/',
  clientSessionMaxIdle: '1h',
  decisionCache: '1s',
};

for (const [name, value] of Object.entries(ONLY_FOR_CODE)) {
  for (const settings of [PASSWORD, CREDENTIALS]) {
    test(`${name} has no effect with ${settings.grantType}`, () => {
      assert.deepEqual(problems({ ...settings, [name]: value }), [
        `warning ${name}: \`${name}\` has no effect: grantType is \`${settings.grantType}\`, not \`AuthorizationCode\``,
      ]);
    });
  }
}

for (const [name, value] of Object.entries({
  clientID: 'me',
  secret: 'hunter2',
  secretName: 's',
})) {
  test(`${name} has no effect with ClientCredentials`, () => {
    assert.deepEqual(problems({ ...CREDENTIALS, [name]: value }), [
      `warning ${name}: \`${name}\` has no effect: with grantType \`ClientCredentials\` the request brings its own`,
    ]);
  });
}
