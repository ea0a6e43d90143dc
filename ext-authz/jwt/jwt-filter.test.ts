import assert from 'node:assert/strict';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { type Ran, runChain } from '#ext-authz/chain/chain.ts';
import { faultOf, WordedFault } from '#ext-authz/chain/fault.ts';
import type { JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import {
  type HostileProvider,
  makeSigningKey,
  type SigningKey,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { itemWith } from '#ext-authz/testing/rules.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { openJwtFilter } from './open-jwt-filter.ts';
import { errorResponse, headerTemplates, jwtSettings } from './testing/jwt-settings.ts';
import { answerOf, CONTEXT, fieldOf, setBy } from './testing/requests.ts';

const NOW = 1_700_000_000_000;

let hostile: HostileProvider;
let second: SigningKey;
before(async () => {
  [hostile, second] = await Promise.all([startHostileProvider(), makeSigningKey('second')]);
});
after(() => hostile.close());
beforeEach(() => hostile.reset());

function open(t: TestContext, changes: Partial<JwtSettings> = {}) {
  let time = NOW;
  const settings = jwtSettings(`${hostile.issuer}/jwks`, changes);
  const filter = openJwtFilter(
    { realm: 'api.default', settings },
    { now: () => time, deadline: soon },
  );
  t.after(() => filter.close());
  const run = async (
    authorization: string | readonly string[] | undefined,
    scope?: readonly string[],
  ) =>
    filter.run(
      requestWith(authorization === undefined ? {} : { authorization }),
      itemWith(scope),
      CONTEXT,
    );
  const advance = (ms: number) => {
    time += ms;
  };
  return { filter, run, advance };
}

const sign = (claims: object = {}, header: object = {}, { kid, privateKey } = hostile.key) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(privateKey);
const bearer = async (claims?: object) => `Bearer ${await sign(claims)}`;

test('a token that is signed by a key of jwksURI lets the request pass', async t =>
  assert.deepEqual(setBy(await open(t).run(await bearer())), {}));

test('the answers to refused requests are those of RFC 6750 section 3', async t => {
  const { run } = open(t);
  const rows = [
    [undefined, 401, 'Bearer realm="api.default"'],
    ['Basic dTpw', 401, 'Bearer realm="api.default"'],
    [
      ['Bearer a', 'Bearer b'],
      400,
      'Bearer realm="api.default", error="invalid_request", error_description="the Authorization field is not one bearer token"',
    ],
    [
      'Bearer a',
      401,
      'Bearer realm="api.default", error="invalid_token", error_description="the token is not a signed JWT"',
    ],
    [
      await bearer({ scope: 'c' }),
      403,
      'Bearer realm="api.default", error="insufficient_scope", error_description="the token lacks a required scope", scope="a b"',
    ],
  ] as const;
  for (const [authorization, status, challenge] of rows) {
    const answer = answerOf(await run(authorization, ['a', 'b']));
    assert.deepEqual([answer.status, fieldOf(answer, 'www-authenticate')], [status, challenge]);
    assert.equal(fieldOf(answer, 'content-type'), 'application/json');
    assert.equal(fieldOf(answer, 'cache-control'), 'no-store');
  }
});

test('the log is told which scope is missing, the client which is wanted', async t => {
  const { body, note } = answerOf(
    await open(t).run(await bearer({ scope: 'c b' }), ['a', 'b', 'd']),
  );
  assert.deepEqual(note, { reason: 'the token lacks the scope a d' });
  assert.doesNotMatch(body, /a d/);
});

test('the body is JSON of message and status, without request_id and error', async t =>
  assert.deepEqual(JSON.parse(answerOf(await open(t).run(undefined)).body), {
    message: 'a bearer token is required',
    status_code: 401,
  }));

test('errorResponse words realm, headers and body', async t => {
  const { run } = open(t, {
    errorResponse: errorResponse({
      realm: 'Staff only',
      headers: [
        ['content-type', 'text/plain'],
        ['x-error', '{{ .status_code }} {{ .error }}'],
        ['x-none', '{{ doNotSet }}'],
      ],
      body: '{{ .request_id }}: {{ .message }}',
    }),
  });
  const answer = answerOf(await run(undefined));
  assert.deepEqual(answer.headers, [
    ['cache-control', 'no-store'],
    ['content-type', 'text/plain'],
    ['x-error', '401 a bearer token is required'],
    ['www-authenticate', 'Bearer realm="Staff only"'],
  ]);
  assert.equal(answer.body, 'request-1: a bearer token is required');
});

test('headers of errorResponse may replace the challenge', async t => {
  const { run } = open(t, {
    errorResponse: errorResponse({ headers: [['www-authenticate', 'Own']] }),
  });
  assert.equal(fieldOf(answerOf(await run(undefined)), 'www-authenticate'), 'Own');
});

test('a template of errorResponse that fails is an error that names Filter and field', async t => {
  const body = open(t, { errorResponse: errorResponse({ body: '{{ .message.x }}' }) });
  await assert.rejects(
    body.run(undefined),
    /^TemplateFault: Filter api.default: errorResponse.bodyTemplate: /,
  );
  const header = open(t, {
    errorResponse: errorResponse({ headers: [['x-a', '{{ print "a\\nb" }}']] }),
  });
  await assert.rejects(
    header.run(undefined),
    /^TemplateFault: Filter api.default: errorResponse.headers, header "x-a": the value has a control character$/,
  );
});

test('every value of the scope argument must be in scope, or in scp where there is none, in a text or a list', async t => {
  const { run } = open(t);
  for (const scope of ['b a', ['a', 'b']]) setBy(await run(await bearer({ scope }), ['a', 'b']));
  for (const scope of ['a', ['ab'], undefined, 7])
    assert.equal(answerOf(await run(await bearer({ scope }), ['a', 'b'])).status, 403);
  for (const scp of ['b a', ['a', 'b']]) setBy(await run(await bearer({ scp }), ['a', 'b']));
  for (const claims of [{ scp: 'a' }, { scope: '', scp: 'a b' }, { scope: 'a', scp: 'b' }])
    assert.equal(answerOf(await run(await bearer(claims), ['a', 'b'])).status, 403);
});

test('claims are judged at each request, the signature once', async t => {
  const { run, advance } = open(t);
  const token = await bearer({ exp: NOW / 1_000 + 5 });
  setBy(await run(token));
  advance(4_999);
  setBy(await run(token));
  advance(1);
  assert.match(
    fieldOf(answerOf(await run(token)), 'www-authenticate') ?? '',
    /the token has expired/,
  );
});

test('templates of injectRequestHeaders see the token and the request', async t => {
  const { run, filter } = open(t, {
    injectRequestHeaders: headerTemplates([
      ['x-sub', '{{ .token.Claims.sub }}'],
      ['x-alg', '{{ .token.Header.alg }}'],
      ['x-raw', '{{ .token.Raw }}'],
      ['x-signature', '{{ .token.Signature }}'],
      ['x-fields', '{{ .httpRequestHeader.Get "AUTHORIZATION" | len }}'],
      ['x-host', '{{ .httpRequestHeader.Get "Host" }}'],
      ['x-number', '{{ .token.Claims.n }}'],
      ['x-missing', '{{ .token.Claims.missing }}'],
      ['x-none', '{{ if not (hasKey .token.Claims "missing") }}{{ doNotSet }}{{ end }}'],
      ['x-fixed', ' text '],
    ]),
  });
  const token = await sign({ sub: 'alice', n: 1_516_239_022 });
  assert.deepEqual(setBy(await run(`Bearer ${token}`)), {
    'x-sub': 'alice',
    'x-alg': 'RS256',
    'x-raw': token,
    'x-signature': token.split('.')[2],
    'x-fields': `${token.length + 7}`,
    'x-host': 'site.test',
    'x-number': '1.516239022e+09',
    'x-missing': '<no value>',
    'x-fixed': 'text',
  });
  assert.ok(filter.injects.has('x-none'));
});

for (const [sub, header] of [
  [' \tadmin ', 'admin'],
  ['admin\u00a0', 'admin\u00a0'],
  ['\ufeffadmin', '\ufeffadmin'],
  ['admin\u2003 ', 'admin\u2003'],
] as const)
  test(`the claim ${JSON.stringify(sub)} is injected as ${JSON.stringify(header)}`, async t => {
    const templates = headerTemplates([['x-sub', '{{ .token.Claims.sub }}']]);
    const { run } = open(t, { injectRequestHeaders: templates });
    assert.deepEqual(setBy(await run(await bearer({ sub }))), { 'x-sub': header });
  });

test('a claim with a line feed, and a template that fails, are errors without the value', async t => {
  for (const [value, error] of [
    ['{{ .token.Claims.sub }}', 'the value has a control character'],
    ['{{ .token.Missing }}', ''],
  ] as const) {
    const { run } = open(t, { injectRequestHeaders: headerTemplates([['x-sub', value]]) });
    const failing = run(await bearer({ sub: 'se\r\ncret' }));
    await assert.rejects(failing, ({ cause: fault }: { cause: Error }) => {
      assert.ok(
        fault.message.startsWith(
          `Filter api.default: injectRequestHeaders, header "x-sub": ${error}`,
        ),
      );
      assert.ok(!fault.message.includes('cret'));
      return faultOf(fault) === 'internal';
    });
  }
});

test('an algorithm that is not in validAlgorithms is refused, also none and HS256 with the public key', async t => {
  const { run } = open(t, { validAlgorithms: ['ES256'] });
  const pem = new TextEncoder().encode(JSON.stringify(hostile.key.publicJwk));
  const forged = await new SignJWT({}).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(pem);
  for (const token of [await sign(), forged, new UnsecuredJWT({}).encode()])
    assert.equal(answerOf(await run(`Bearer ${token}`)).status, 401, token);
  const shared = open(t, { validAlgorithms: ['HS256', 'RS256'] });
  assert.equal(answerOf(await shared.run(`Bearer ${forged}`)).status, 401);
});

test('with none alone a token without signature passes, a signed one does not, and no provider is asked for keys', async t => {
  const { run } = open(t, { validAlgorithms: ['none'], jwksURI: undefined });
  const unsecured = (claims: object) => `Bearer ${new UnsecuredJWT({ ...claims }).encode()}`;
  setBy(await run(unsecured({ exp: NOW / 1_000 + 1, scope: 'a' }), ['a']));
  assert.equal(answerOf(await run(unsecured({ exp: NOW / 1_000 }))).status, 401);
  assert.equal(answerOf(await run(await bearer())).status, 401);
  assert.equal(answerOf(await run(`${unsecured({})}AAAA`)).status, 401);
  assert.equal(hostile.asked('jwks').length, 0);
});

test('keys that cannot be had are the fault of the provider, in the words of errorResponse', async t => {
  hostile.behave('jwks', () => ({ status: 500 }));
  await assert.rejects(open(t).run(await bearer()), (error: unknown) => {
    assert.ok(error instanceof WordedFault);
    assert.equal(faultOf(error), 'provider');
    assert.deepEqual(JSON.parse(error.answer.body), {
      message: 'The identity provider cannot be used at the moment.',
      request_id: 'request-1',
      status_code: 502,
    });
    assert.equal(fieldOf(error.answer, 'www-authenticate'), undefined);
    return error.answer.status === 502;
  });
});

test('keys that a provider offers later are answered with its Retry-After', async t => {
  hostile.behave('jwks', () => ({ status: 503, headers: { 'retry-after': '7' } }));
  await assert.rejects(open(t).run(await bearer()), (error: unknown) => {
    assert.ok(error instanceof WordedFault);
    assert.equal(fieldOf(error.answer, 'retry-after'), '7');
    return error.answer.status === 502;
  });
});

test('a chain answers a fault in the words of errorResponse, and tells its cause', async t => {
  hostile.behave('jwks', () => ({ status: 500 }));
  const { filter } = open(t, {
    errorResponse: errorResponse({ body: 'sorry: {{ .status_code }}' }),
  });
  const told: Ran[] = [];
  const rule = { id: 'default/policy 0', host: '*', path: '*', items: [itemWith()] };
  const result = await runChain(rule, requestWith({ authorization: await bearer() }), {
    filters: new Map([['default/filter', filter]]),
    signal: soon,
    ran: (_, what) => told.push(what),
  });
  assert.ok(result.kind === 'answer');
  assert.equal(result.answer.body, 'sorry: 502');
  const [what] = told;
  assert.ok(what?.kind === 'failed' && what.error instanceof ProviderError);
});

test('a fault that errorResponse cannot word stays a fault', async t => {
  hostile.behave('jwks', () => ({ status: 500 }));
  const { run } = open(t, { errorResponse: errorResponse({ body: '{{ .message.x }}' }) });
  await assert.rejects(run(await bearer()), error => faultOf(error) === 'provider');
});

test('a token of a withdrawn key is refused as soon as the keys are known', async t => {
  const { run, advance } = open(t);
  const token = await bearer();
  setBy(await run(token));
  hostile.behave('jwks', () => ({ body: { keys: [second.publicJwk] } }));
  advance(300_000);
  assert.equal(answerOf(await run(token)).status, 401);
});

test('a known token passes while the provider is away', async t => {
  const { run, advance } = open(t);
  const token = await bearer();
  setBy(await run(token));
  hostile.behave('jwks', () => 'hang up');
  advance(300_000);
  setBy(await run(token));
  await assert.rejects(run(await bearer({ new: true })), error => faultOf(error) === 'provider');
});

test('a key set that changes but keeps the key keeps the verdict', async t => {
  const { run, advance } = open(t);
  const token = await bearer();
  setBy(await run(token));
  hostile.behave('jwks', () => ({ body: { keys: [second.publicJwk, hostile.key.publicJwk] } }));
  advance(300_000);
  setBy(await run(token));
  setBy(await run(token));
});

test('a token with twisted parts is refused', async t => {
  const { run } = open(t);
  const token = await sign({ sub: 'alice' });
  const [header = '', , signature = ''] = token.split('.');
  const other = Buffer.from(JSON.stringify({ sub: 'bob' })).toString('base64url');
  for (const twisted of [
    `${header}.${other}.${signature}`,
    `${header}..${signature}`,
    `${token}.a`,
    `${token}=`,
    token.slice(0, -8),
    `${header}.${other}.`,
    '..',
    'a'.repeat(60_000),
  ])
    assert.equal(answerOf(await run(`Bearer ${twisted}`)).status, 401, twisted.slice(0, 80));
});
