import assert from 'node:assert/strict';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { faultOf } from '#ext-authz/chain/fault.ts';
import { openJwtFilter } from '#ext-authz/jwt/open-jwt-filter.ts';
import { headerTemplates, jwtSettings } from '#ext-authz/jwt/testing/jwt-settings.ts';
import type {
  AccessTokenJWTFilter,
  JwtSettings,
  OAuth2Settings,
} from '#ext-authz/policy/filter-settings.ts';
import {
  type HostileProvider,
  makeSigningKey,
  type SigningKey,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import { openTestProvider } from '#ext-authz/testing/open-test-provider.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { openResourceServer } from './open-resource-server.ts';

const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1_000;

let hostile: HostileProvider;
let [foreign, elliptic]: SigningKey[] = [];
before(async () => {
  const started = [makeSigningKey('foreign'), makeSigningKey('elliptic', 'ES256')] as const;
  [hostile, foreign, elliptic] = await Promise.all([startHostileProvider(), ...started]);
});
after(() => hostile.close());
beforeEach(() => {
  hostile.reset();
  const keys = [hostile.key.publicJwk, elliptic?.publicJwk];
  hostile.behave('jwks', () => ({ body: { keys } }));
});

type Settings = Parameters<typeof openResourceServer>[0]['settings'];

function open(t: TestContext, changes: Partial<Settings> = {}, jwt: Partial<JwtSettings> = {}) {
  let time = NOW;
  const now = () => time;
  const settings: Settings = {
    grantType: 'AuthorizationCode',
    allowMalformedAccessToken: false,
    accessTokenValidation: 'auto',
    accessTokenJWTFilter: undefined,
    injectRequestHeaders: [],
    ...changes,
  };
  const definition = { realm: 'api.default', settings: jwtSettings(`${hostile.issuer}/jwks`, jwt) };
  const jwtFilter = openJwtFilter(definition, { now, deadline: soon });
  t.after(() => jwtFilter.close());
  const server = openResourceServer(
    { realm: 'login.default', settings },
    {
      provider: openTestProvider(t, hostile),
      jwtFilter: name => (name === 'default/api' ? jwtFilter : undefined),
      now,
      deadline: soon,
    },
  );
  const judge = async (accessToken: string, scope: readonly string[] = [], sub?: string) => {
    const idToken = sub === undefined ? undefined : { raw: '', claims: { sub } };
    const verdict = await server.validate({ accessToken, idToken }, scope, soon);
    return verdict.kind === 'valid' ? 'valid' : `${verdict.kind}: ${verdict.check}`;
  };
  const advance = (ms: number) => {
    time += ms;
  };
  const { change, roomFault, validate } = server;
  return { judge, advance, change, roomFault, validate };
}

test('an access token for which no request has room is told of, unless another header takes its place', t => {
  const tokens = {
    accessToken: 'a'.repeat(70_000),
    idToken: { raw: '', header: {}, claims: { sub: 'alice' } },
  };
  assert.match(open(t).roomFault(tokens, requestWith()) ?? '', /^is too large: 70007 bytes/);
  for (const template of ['Bearer {{ .idToken.Claims.sub }}', '{{ .missing.field }}']) {
    const injectRequestHeaders = headerTemplates([['authorization', template]]);
    assert.equal(open(t, { injectRequestHeaders }).roomFault(tokens, requestWith()), undefined);
  }
});

const CLAIMS = () => ({ iss: hostile.issuer, exp: SECONDS + 60 });
const sign = (claims: object = {}, { kid, privateKey } = hostile.key, alg = 'RS256') =>
  new SignJWT({ ...CLAIMS(), ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey);
const askedUserinfo = () => hostile.asked('userinfo').length;

test('jwt: exp, nbf, iat, iss and scope of an access token are judged', async t => {
  const { judge } = open(t, { accessTokenValidation: 'jwt' });
  const rows: readonly (readonly [claims: object, scope: readonly string[], verdict: string])[] = [
    [{}, [], 'valid'],
    [{ exp: SECONDS }, [], 'invalid: the access token has expired (exp)'],
    [{ exp: undefined }, [], 'invalid: the access token has no exp'],
    [
      { iss: undefined },
      [],
      'invalid: the access token is from another issuer (iss) than authorizationURL (see accessTokenValidation and accessTokenJWTFilter)',
    ],
    [
      { iss: `${hostile.issuer}/` },
      [],
      'invalid: the access token is from another issuer (iss) than authorizationURL (see accessTokenValidation and accessTokenJWTFilter)',
    ],
    [{ nbf: SECONDS + 30, iat: SECONDS + 30 }, [], 'valid'],
    [{ nbf: SECONDS + 31 }, [], 'invalid: the access token is not valid yet (nbf)'],
    [{ iat: SECONDS + 31 }, [], 'invalid: the access token was issued in the future (iat)'],
    [{ iat: 'now' }, [], "invalid: the access token's iat is malformed"],
    [{}, ['a'], 'valid'],
    [{ scope: 'b a' }, ['a'], 'valid'],
    [{ scope: 'b' }, ['a'], 'insufficient_scope: the access token lacks the scope a'],
    [{ scope: ['b'] }, ['a', 'b', 'c'], 'insufficient_scope: the access token lacks the scope a c'],
    [{ scope: 'a' }, ['a', 'openid', 'offline_access'], 'valid'],
  ];
  for (const [claims, scope, verdict] of rows)
    assert.equal(await judge(await sign(claims), scope), verdict, JSON.stringify(claims));
  assert.equal(askedUserinfo(), 0);
});

test('jwt: iss may be the access_token_issuer of AD FS, and of no other provider', async t => {
  const trust = 'http://adfs.test/adfs/services/trust';
  const token = await sign({ iss: trust });
  assert.match(await open(t, { accessTokenValidation: 'jwt' }).judge(token), /^invalid: .*\(iss\)/);
  hostile.behave('discovery', () => ({
    body: { ...hostile.discovery(), access_token_issuer: trust },
  }));
  const { judge } = open(t, { accessTokenValidation: 'jwt' });
  assert.equal(await judge(token), 'valid');
  assert.equal(await judge(await sign()), 'valid');
  for (const iss of [undefined, `${trust}/`])
    assert.match(await judge(await sign({ iss })), /^invalid: .*\(iss\)/);
});

test('jwt: a token that is no JWT signed by the provider is refused', async t => {
  const { judge } = open(t, { accessTokenValidation: 'jwt' });
  const rows = [
    ['opaque', 'the access token is not a signed JWT (see accessTokenValidation)'],
    [
      new UnsecuredJWT(CLAIMS()).encode(),
      'the access token is not signed with RS256, RS384 or RS512 (see accessTokenJWTFilter)',
    ],
    [
      await sign({}, elliptic, 'ES256'),
      'the access token is not signed with RS256, RS384 or RS512 (see accessTokenJWTFilter)',
    ],
    [await sign({}, foreign), 'the access token is signed with an unknown key'],
    [`${(await sign()).slice(0, -9)}AAAAAAAAA`, 'the signature of the access token is wrong'],
  ] as const;
  for (const [token, check] of rows) assert.equal(await judge(token), `invalid: ${check}`);
});

test('userinfo: each request asks the provider once, and sub is that of the ID token', async t => {
  const { judge } = open(t, { accessTokenValidation: 'userinfo' });
  assert.equal(await judge(await sign({ exp: 1 }), ['a'], 'alice'), 'valid');
  assert.equal(await judge('opaque', [], 'alice'), 'valid');
  assert.equal(askedUserinfo(), 2);
  assert.equal(await judge('opaque', [], 'bob'), 'invalid: userinfo is about another user (sub)');
});

test('userinfo: is asked in the time that a request has left', async t => {
  const { validate } = open(t, { accessTokenValidation: 'userinfo' });
  const idToken = { raw: '', header: {}, claims: { sub: 'alice' } };
  const late = async () =>
    validate({ accessToken: 'opaque', idToken }, [], () => AbortSignal.abort());
  await assert.rejects(late, { code: 'timeout' });
  assert.equal(askedUserinfo(), 0);
});

test('userinfo: the refusals of RFC 6750 section 3.1, and faults', async t => {
  const { judge } = open(t, { accessTokenValidation: 'userinfo' });
  const refuse = (status: number, error: string) =>
    hostile.behave('userinfo', () => ({
      status,
      headers: { 'www-authenticate': `Bearer error="${error}"` },
    }));
  refuse(401, 'invalid_token');
  assert.equal(await judge('opaque'), 'invalid: the userinfo endpoint refuses the access token');
  hostile.behave('userinfo', () => ({ status: 401 }));
  assert.equal(await judge('opaque'), 'invalid: the userinfo endpoint refuses the access token');
  refuse(401, 'odd_error');
  assert.equal(await judge('opaque'), 'invalid: the userinfo endpoint refuses the access token');
  refuse(403, 'insufficient_scope');
  assert.equal(
    await judge('opaque'),
    'insufficient_scope: the userinfo endpoint says that the access token lacks a scope',
  );
  for (const answer of [
    { status: 500 },
    { status: 503 },
    { body: '{' },
    'hang up',
    'break off',
  ] as const) {
    hostile.behave('userinfo', () => answer);
    await assert.rejects(judge('opaque'), error => faultOf(error) === 'provider');
  }
});

test('auto: a JWT whose signature verifies is judged as jwt, also when it has expired or is of another issuer', async t => {
  const { judge } = open(t);
  assert.equal(await judge(await sign()), 'valid');
  assert.equal(await judge(await sign({ exp: 1 })), 'invalid: the access token has expired (exp)');
  assert.equal(
    await judge(await sign({ iss: 'x' })),
    'invalid: the access token is from another issuer (iss) than authorizationURL (see accessTokenValidation and accessTokenJWTFilter)',
  );
  assert.equal(askedUserinfo(), 0);
});

test('auto: everything else goes to userinfo', async t => {
  const { judge } = open(t);
  const others = [
    'opaque',
    await sign({}, foreign),
    await sign({}, elliptic, 'ES256'),
    new UnsecuredJWT(CLAIMS()).encode(),
  ];
  for (const token of others) assert.equal(await judge(token), 'valid');
  assert.equal(askedUserinfo(), 4);
});

test('auto: a provider that has lost its keys refuses the token, as Dex does, and is not down', async t => {
  hostile.behave('userinfo', () => ({
    status: 403,
    body: { error: 'access_denied', error_description: 'failed to verify signature' },
  }));
  const { judge } = open(t);
  assert.equal(
    await judge(await sign({}, foreign)),
    'invalid: the userinfo endpoint refuses the access token',
  );
});

test('auto: with ClientCredentials it is jwt', async t => {
  const { judge } = open(t, { grantType: 'ClientCredentials' });
  assert.equal(
    await judge('opaque'),
    'invalid: the access token is not a signed JWT (see accessTokenValidation)',
  );
  assert.equal(askedUserinfo(), 0);
});

test('a token outside RFC 6750 is refused unless allowMalformedAccessToken, one with controls always', async t => {
  const strict = open(t);
  const lax = open(t, { allowMalformedAccessToken: true });
  const refused =
    'invalid: the access token has characters that RFC 6750 does not allow (see allowMalformedAccessToken)';
  assert.equal(await strict.judge('a b'), refused);
  assert.equal(await lax.judge('a b'), 'valid');
  const unsendable =
    'invalid: the access token is empty or has characters that no header can carry';
  for (const token of ['a\r\nb', 'a\u0000', 'a\nb', '', 'a\u0085'])
    assert.deepEqual([await strict.judge(token), await lax.judge(token)], [unsendable, unsendable]);
  assert.equal(askedUserinfo(), 1);
});

const DELEGATED: AccessTokenJWTFilter = {
  filter: 'default/api',
  inheritScopeArgument: false,
  stripInheritedScope: false,
  scope: [],
};

test('accessTokenJWTFilter: the JWT filter judges, with its algorithms and claims alone', async t => {
  const { judge } = open(
    t,
    { accessTokenJWTFilter: DELEGATED },
    { audience: 'api', requireAudience: true },
  );
  assert.equal(await judge(await sign({ aud: 'api', iss: undefined }, elliptic, 'ES256')), 'valid');
  assert.equal(await judge(await sign()), 'invalid: the access token has no aud');
  assert.equal(await judge('opaque'), 'invalid: the access token is not a signed JWT');
  assert.equal(askedUserinfo(), 0);
});

test('accessTokenJWTFilter: its scope argument, inherited scope and stripped scope', async t => {
  const rows: readonly (readonly [
    Partial<AccessTokenJWTFilter>,
    rule: string[],
    scope: string,
    valid: boolean,
  ])[] = [
    [{}, ['a'], '', true],
    [{ scope: ['b'] }, ['a'], 'b', true],
    [{ scope: ['b'] }, ['a'], 'a', false],
    [{ inheritScopeArgument: true }, ['a', 'offline_access'], 'a', true],
    [{ inheritScopeArgument: true }, ['a', 'openid'], 'a', true],
    [{ inheritScopeArgument: true, stripInheritedScope: true }, ['x/openid', 'x/a'], 'a', true],
    [{ inheritScopeArgument: true, scope: ['openid'] }, ['a'], 'a', false],
    [{ inheritScopeArgument: true, scope: ['b'] }, ['a'], 'a', false],
    [{ inheritScopeArgument: true, scope: ['b'] }, ['a'], 'a b', true],
    [{ inheritScopeArgument: true }, ['https://api.test/read'], 'read', false],
    [
      { inheritScopeArgument: true, stripInheritedScope: true },
      ['https://api.test/read'],
      'read',
      true,
    ],
    [
      { inheritScopeArgument: true, stripInheritedScope: true, scope: ['x/b'] },
      ['x/a'],
      'a x/b',
      true,
    ],
    [
      { inheritScopeArgument: true, stripInheritedScope: true, scope: ['x/b'] },
      ['x/a'],
      'a b',
      false,
    ],
    [{ stripInheritedScope: true }, ['x/a'], '', true],
  ];
  for (const [reference, rule, scope, valid] of rows) {
    const { judge } = open(t, { accessTokenJWTFilter: { ...DELEGATED, ...reference } });
    const verdict = await judge(await sign({ scope }), rule);
    assert.equal(verdict === 'valid', valid, JSON.stringify([reference, rule, scope]));
  }
});

test('accessTokenJWTFilter: the missing scope is named', async t => {
  const { judge } = open(t, { accessTokenJWTFilter: { ...DELEGATED, inheritScopeArgument: true } });
  assert.equal(
    await judge(await sign({ scope: 'b' }), ['c', 'b', 'a', 'openid', 'offline_access']),
    'insufficient_scope: the access token lacks the scope a c',
  );
});

test('a JWT filter that is not in force closes', async t => {
  const { judge } = open(t, { accessTokenJWTFilter: { ...DELEGATED, filter: 'default/other' } });
  await assert.rejects(judge('token'), error => faultOf(error) === 'internal');
});

test('a provider whose keys cannot be had is a fault, not a verdict', async t => {
  hostile.behave('jwks', () => ({ status: 500 }));
  for (const accessTokenValidation of ['jwt', 'auto'] as const) {
    const { judge } = open(t, { accessTokenValidation });
    await assert.rejects(judge(await sign()), error => faultOf(error) === 'provider');
  }
});

test('upstream gets the access token and what templates make of both tokens', async t => {
  const injecting: OAuth2Settings['injectRequestHeaders'] = headerTemplates([
    ['x-access', '{{ .token.Claims.sub }} {{ .token.Header.alg }} {{ .token.Signature }}'],
    ['x-id', '{{ .idToken.Raw }} {{ .idToken.Claims.email }}'],
    ['x-seen', '{{ .httpRequestHeader.Get "x-in" }}'],
  ]);
  const { change } = open(t, { injectRequestHeaders: injecting });
  const [accessToken, raw] = [await sign({ sub: 'a' }), await sign({ email: 'e@x' })];
  const { set } = change(
    { accessToken, idToken: { raw, claims: {} } },
    requestWith({ 'x-in': 'there' }),
  );
  assert.deepEqual(Object.fromEntries(set), {
    authorization: `Bearer ${accessToken}`,
    'x-access': `a RS256 ${accessToken.split('.')[2]}`,
    'x-id': `${raw} e@x`,
    'x-seen': 'there',
  });
});

test('an opaque access token has Raw only, an absent ID token is all empty: no template fails', async t => {
  const parts = ['token', 'idToken'].flatMap(name => [
    [`x-${name}-raw`, `{{ .${name}.Raw }}`] as const,
    [
      `x-${name}-rest`,
      `{{ .${name}.Header }}{{ .${name}.Claims }}{{ .${name}.Signature }}`,
    ] as const,
    [`x-${name}-claim`, `{{ .${name}.Claims.sub }}`] as const,
  ]);
  const { change } = open(t, { injectRequestHeaders: headerTemplates(parts) });
  for (const accessToken of [
    'opaque',
    'a.b.c',
    '..',
    `${'e30.'.repeat(3)}e30`,
    'bnVsbA.bnVsbA.x',
  ]) {
    const { set } = change({ accessToken, idToken: undefined }, requestWith());
    assert.deepEqual(
      [...set.values()],
      [
        `Bearer ${accessToken}`,
        accessToken,
        'map[]map[]',
        '<no value>',
        '',
        'map[]map[]',
        '<no value>',
      ],
    );
  }
});

test('headers of the JWT filter to which validation is left are set too, and the OAuth2 filter wins', async t => {
  const { change } = open(
    t,
    {
      accessTokenJWTFilter: DELEGATED,
      injectRequestHeaders: headerTemplates([['x-both', 'oauth2']]),
    },
    {
      injectRequestHeaders: headerTemplates([
        ['x-both', 'jwt'],
        ['x-sub', '{{ .token.Claims.sub }}'],
      ]),
    },
  );
  const { set } = change(
    { accessToken: await sign({ sub: 'a' }), idToken: undefined },
    requestWith(),
  );
  assert.deepEqual([set.get('x-both'), set.get('x-sub')], ['oauth2', 'a']);
});

test('a template that fails is not tried again for the same tokens, unless it read the request', async t => {
  for (const [value, tried] of [
    ['{{ range .token.Claims.roles }}{{ . }}{{ end }}', 1],
    ['{{ .httpRequestHeader.Get "x-in" }}{{ range .token.Claims.roles }}{{ . }}{{ end }}', 3],
  ] as const) {
    const { change } = open(t, { injectRequestHeaders: headerTemplates([['x-roles', value]]) });
    const tokens = {
      accessToken: await sign({ roles: Array.from({ length: 20_000 }, () => 'admin') }),
      idToken: undefined,
    };
    const faults = new Set<unknown>();
    for (let n = 0; n < 3; n += 1)
      assert.throws(
        () => change(tokens, requestWith()),
        fault => {
          faults.add(fault);
          return /more than 65536 characters/.test(String(fault));
        },
      );
    assert.equal(faults.size, tried);
  }
});

test('an injected Authorization replaces the access token', async t => {
  const { change } = open(t, {
    injectRequestHeaders: headerTemplates([['authorization', 'Own {{ .token.Raw }}']]),
  });
  assert.equal(
    change({ accessToken: 'a', idToken: undefined }, requestWith()).set.get('authorization'),
    'Own a',
  );
});

test('a token that is known is not verified again, and its claims are judged each time', async t => {
  const { judge, advance } = open(t, { accessTokenValidation: 'jwt' });
  const token = await sign();
  assert.equal(await judge(token), 'valid');
  const asked = hostile.asked('jwks').length;
  advance(59_999);
  assert.equal(await judge(token), 'valid');
  advance(1);
  assert.match(await judge(token), /expired/);
  assert.equal(hostile.asked('jwks').length, asked);
});

for (const accessTokenJWTFilter of [undefined, DELEGATED])
  test(`keys ${accessTokenJWTFilter ? 'of a JWT Filter ' : ''}that do not come within the time of a request are 504`, async t => {
    const { validate } = open(t, { accessTokenJWTFilter });
    hostile.behave('jwks', () => 'hang');
    const tokens = { accessToken: await sign(), idToken: undefined };
    const over = async () => validate(tokens, [], () => AbortSignal.abort());
    await assert.rejects(over, { code: 'timeout', message: 'the key set: no answer in time' });
  });
