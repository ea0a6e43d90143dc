import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

const PASSWORD = {
  authorizationURL: 'https://idp.example.com',
  grantType: 'Password',
  clientID: 'me',
  secret: privateKey,
};

const withAssertion = (jwtAssertion?: object) => ({
  ...PASSWORD,
  clientAuthentication: {
    method: 'JWTAssertion',
    ...(jwtAssertion === undefined ? {} : { jwtAssertion }),
  },
});

const problems = (settings: object) =>
  problemsOf('Filter', { OAuth2: settings }).map(line =>
    line.replace('spec.OAuth2.', '').replace('clientAuthentication.jwtAssertion.', ''),
  );

function assertionOf(settings: object): object | undefined {
  const [resource] = parseText(documentOf('Filter', { OAuth2: settings })).resources;
  const authentication =
    resource?.kind === 'Filter' ? resource.spec.OAuth2?.clientAuthentication : undefined;
  return authentication?.method === 'JWTAssertion' ? authentication.jwtAssertion : undefined;
}

const DEFAULTS = {
  setClientID: false,
  signingMethod: 'RS256',
  lifetime: 60_000,
  setNBF: false,
  nbfSafetyMargin: 0,
  setIAT: false,
  otherClaims: {},
  otherHeaderParameters: {},
};

test('an assertion that is not described has the defaults', () => {
  assert.deepEqual(assertionOf(withAssertion()), DEFAULTS);
  assert.deepEqual(assertionOf(withAssertion({})), DEFAULTS);
  assert.deepEqual(problems(withAssertion()), []);
});

const ACCEPTED: readonly [written: object, meant: object][] = [
  [{ setClientID: true }, { setClientID: true }],
  [{ audience: 'https://idp.example.com' }, { audience: 'https://idp.example.com' }],
  [{ signingMethod: 'PS512' }, { signingMethod: 'PS512' }],
  [{ lifetime: '30s' }, { lifetime: 30_000 }],
  [
    { setNBF: true, nbfSafetyMargin: '5s' },
    { setNBF: true, nbfSafetyMargin: 5_000 },
  ],
  [{ setIAT: true }, { setIAT: true }],
  [
    { otherClaims: { a: [1, { b: null }], ISS: 'x' } },
    { otherClaims: { a: [1, { b: null }], ISS: 'x' } },
  ],
  [{ kid: '2026-1' }, { kid: '2026-1' }],
  [
    { otherHeaderParameters: { typ: 'x', kid: 'y' } },
    { otherHeaderParameters: { typ: 'x', kid: 'y' } },
  ],
];

for (const [written, meant] of ACCEPTED) {
  test(`${JSON.stringify(written)} is taken`, () => {
    assert.deepEqual(assertionOf(withAssertion(written)), { ...DEFAULTS, ...meant });
    assert.deepEqual(problems(withAssertion(written)), []);
  });
}

for (const method of ['HeaderPassword', 'BodyPassword', undefined]) {
  test(`jwtAssertion is forbidden with ${method ?? 'no method'}`, () => {
    const clientAuthentication = { method, jwtAssertion: {} };
    assert.deepEqual(problems({ ...PASSWORD, clientAuthentication }), [
      `error clientAuthentication.jwtAssertion: \`jwtAssertion\` belongs to method \`JWTAssertion\`, not to \`${method ?? 'HeaderPassword'}\``,
    ]);
  });
}

const REFUSED: readonly [written: object, problem: string][] = [
  [{ kid: '' }, 'kid: `kid` must not be empty'],
  [
    { kid: 'a', otherHeaderParameters: { kid: 'b' } },
    'kid: `kid` and the `kid` of `otherHeaderParameters` exclude each other. Keep one',
  ],
  [{ audience: '' }, 'audience: `audience` must not be empty'],
  [{ lifetime: '0s' }, 'lifetime: Cannot parse duration "0s": it must be longer than 0'],
  [{ setIAT: 'true' }, 'setIAT: `setIAT` must be `true` or `false`, not "true"'],
  [
    { signingMethod: 'ES256' },
    'secret: ES256 needs an elliptic-curve private key, and this is one of type rsa',
  ],
  [
    { otherClaims: [] },
    'otherClaims: `otherClaims` must be a map from name to any JSON value, not a list',
  ],
  ...['iss', 'sub', 'aud', 'exp', 'jti', 'nbf', 'iat'].map((name): [object, string] => [
    { otherClaims: { [name]: 1 } },
    `otherClaims.${name}: the claim \`${name}\` is the gateway's own and may not be set`,
  ]),
  ...['alg', 'crit', 'b64'].map((name): [object, string] => [
    { otherHeaderParameters: { [name]: 1 } },
    `otherHeaderParameters.${name}: the header parameter \`${name}\` is the gateway's own and may not be set`,
  ]),
];

for (const [written, problem] of REFUSED) {
  test(`${JSON.stringify(written)} is rejected`, () => {
    assert.deepEqual(problems(withAssertion(written)), [`error ${problem}`]);
  });
}

test('a signing method that is none is rejected', () => {
  assert.match(
    problems(withAssertion({ signingMethod: 'none' })).join('\n'),
    /^error signingMethod: `signingMethod` must be one of `RS256`, .*, not "none"$/,
  );
});

test('a secret in PEM that does not fit is rejected whatever else is wrong, one that is elsewhere is not looked at', () => {
  const wrong = { ...withAssertion(), secret: 'hunter2', maxStale: '5x' };
  assert.match(problems(wrong).join('\n'), /error secret: RS256 needs an RSA private key in PEM/);
  assert.deepEqual(problems({ ...withAssertion(), secret: undefined, secretName: 's' }), []);
});

test('a line break at the end of PEM is no matter, at the end of a shared secret it is cut', () => {
  const shared = withAssertion({ signingMethod: 'HS256' });
  assert.deepEqual(problems({ ...shared, secret: 'a' }), []);
  assert.deepEqual(problems({ ...shared, secret: 'a\n' }), [
    'warning secret: the line break at its end is cut',
  ]);
});

test('nbfSafetyMargin below 0 counts as 0', () => {
  assert.deepEqual(problems(withAssertion({ setNBF: true, nbfSafetyMargin: '-1s' })), [
    'warning nbfSafetyMargin: `nbfSafetyMargin` is less than 0, which counts as 0',
  ]);
});

test('nbfSafetyMargin has no effect without setNBF', () => {
  assert.deepEqual(problems(withAssertion({ nbfSafetyMargin: '5s' })), [
    'warning nbfSafetyMargin: `nbfSafetyMargin` has no effect without `setNBF`',
  ]);
});

test('with ClientCredentials only setClientID has an effect', () => {
  const jwtAssertion = {
    setClientID: true,
    audience: 'x',
    signingMethod: 'HS256',
    lifetime: '5m',
    setNBF: true,
    nbfSafetyMargin: '1s',
    setIAT: true,
    otherClaims: { a: 1 },
    otherHeaderParameters: { kid: 'x' },
  };
  const { authorizationURL } = PASSWORD;
  const clientAuthentication = { method: 'JWTAssertion', jwtAssertion };
  assert.deepEqual(
    problems({ authorizationURL, grantType: 'ClientCredentials', clientAuthentication }),
    Object.keys(jwtAssertion)
      .slice(1)
      .map(
        name =>
          `warning ${name}: \`${name}\` has no effect: with grantType \`ClientCredentials\` the request brings the assertion`,
      ),
  );
});
