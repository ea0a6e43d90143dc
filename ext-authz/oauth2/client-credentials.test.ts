import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { SignJWT } from 'jose';
import { faultOf } from '../fault.ts';
import { headerTemplates } from '../jwt/testing/jwt-settings.ts';
import { answerOf, fieldOf, setBy } from '../jwt/testing/requests.ts';
import type { Outcome } from '../outcome.ts';
import type { RecordStore } from '../store/record-store.ts';
import { StoreUnavailable } from '../store/record-store.ts';
import {
  type HostileAnswer,
  type HostileProvider,
  startHostileProvider,
} from '../testing/hostile-provider.ts';
import { assertionSettings } from '../testing/provider-settings.ts';
import { openCredentialFilter } from './testing/credential-filter.ts';

let hostile: HostileProvider;
before(async () => {
  hostile = await startHostileProvider();
});
after(() => hostile.close());
beforeEach(() => {
  hostile.reset();
  grant();
});

const GRANT = { grantType: 'ClientCredentials', clientID: undefined, secret: undefined } as const;
const ME = { 'x-gateway-client-id': 'me', 'x-gateway-client-secret': 'top secret' };
const as = (id: string, secret = 'wrong') => ({
  'x-gateway-client-id': id,
  'x-gateway-client-secret': secret,
});
const asked = () => hostile.asked('token').length;

async function accessToken(claims: object = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const payload = { iss: hostile.issuer, sub: 'me', exp: now + 3_600, ...claims };
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(hostile.key.privateKey);
}

/** Answers each token request with a new JWT; `changes` are members of the answer. */
function grant(changes: object = {}, claims: object = {}): void {
  let n = 0;
  hostile.behave('token', async () => {
    n += 1;
    const access_token = await accessToken({ n, ...claims });
    return { body: { access_token, token_type: 'Bearer', expires_in: 3_600, ...changes } };
  });
}

function refuse(error = 'invalid_client', status = 401): void {
  hostile.behave('token', (): HostileAnswer => ({ status, body: { error } }));
}

/** Grants to those with the right secret. */
function judge(): void {
  const right = `Basic ${Buffer.from('me:top+secret').toString('base64')}`;
  hostile.behave('token', async ({ headers }): Promise<HostileAnswer> => {
    if (headers.authorization !== right) return { status: 401, body: { error: 'invalid_client' } };
    return { body: { access_token: await accessToken(), token_type: 'Bearer', expires_in: 3_600 } };
  });
}

test('HeaderPassword: the headers become the client authentication, and upstream gets the token', async t => {
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const { authorization } = setBy(await run(ME, ['b', 'a']));
  const [request] = hostile.asked('token');
  assert.equal(request?.headers.authorization, `Basic ${Buffer.from('me:top+secret').toString('base64')}`);
  assert.deepEqual(Object.fromEntries(request?.form ?? []), {
    grant_type: 'client_credentials',
    scope: 'a b',
  });
  assert.match(authorization ?? '', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
});

test('BodyPassword: they go into the body; no scope is sent when there is none', async t => {
  const changes = { ...GRANT, clientAuthentication: { method: 'BodyPassword' } } as const;
  const { run } = await openCredentialFilter(t, hostile.issuer, changes);
  setBy(await run(ME));
  const [request] = hostile.asked('token');
  assert.equal(request?.headers.authorization, undefined);
  const form = { grant_type: 'client_credentials', client_id: 'me', client_secret: 'top secret' };
  assert.deepEqual(Object.fromEntries(request?.form ?? []), form);
});

test('JWTAssertion: the assertion is sent unchanged, with client_id only when setClientID says so', async t => {
  for (const setClientID of [false, true]) {
    hostile.reset();
    grant();
    const jwtAssertion = assertionSettings({ setClientID });
    const changes = { ...GRANT, clientAuthentication: { method: 'JWTAssertion', jwtAssertion } } as const;
    const { run } = await openCredentialFilter(t, hostile.issuer, changes);
    const assertion = await accessToken();
    setBy(await run({ 'x-gateway-client-assertion': assertion }));
    assert.deepEqual(Object.fromEntries(hostile.asked('token')[0]?.form ?? []), {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
      ...(setClientID && { client_id: 'me' }),
    });
  }
});

test('without credentials the answer is 403, and nobody is asked', async t => {
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const answer = answerOf(await run({}));
  assert.equal(answer.status, 403);
  assert.equal(fieldOf(answer, 'www-authenticate'), undefined);
  assert.equal(fieldOf(answer, 'cache-control'), 'no-store');
  assert.deepEqual([asked(), hostile.asked('discovery').length], [0, 0]);
});

test('50 requests with the same credentials make one token request', async t => {
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => run(ME)));
  assert.equal(new Set(outcomes.map(outcome => setBy(outcome).authorization)).size, 1);
  assert.equal(asked(), 1);
});

test('a token is cached by credentials, scope, realm and version of the Filter', async t => {
  const { run, replica } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const first = setBy(await run(ME, ['a', 'b'])).authorization;
  assert.equal(setBy(await run(ME, ['b', 'a', 'b'])).authorization, first);
  assert.equal(setBy(await replica()(ME, ['a', 'b'])).authorization, first);
  assert.equal(asked(), 1);
  await run(ME, ['a']);
  await run(as('me', 'other'), ['a', 'b']);
  await run(as('other', 'top secret'), ['a', 'b']);
  await replica({ version: 'second' })(ME, ['a', 'b']);
  await replica({ realm: 'other.default' })(ME, ['a', 'b']);
  await replica({ storeKey: new Uint8Array(32) })(ME, ['a', 'b']);
  assert.equal(asked(), 7);
});

test('a token lives until its end less expirationSafetyMargin', async t => {
  const changes = { ...GRANT, expirationSafetyMargin: 10_000 };
  for (const [what, answer, claims, lifetime] of [
    ['expires_in', { expires_in: 60 }, {}, 50_000],
    ['its own exp when that is sooner', {}, { exp: Math.floor(Date.now() / 1_000) + 60 }, 49_000],
    ['expires_in as text', { expires_in: '60' }, {}, 50_000],
    ['an expires_in of no sense is a minute', { expires_in: -1 }, {}, 50_000],
  ] as const) {
    hostile.reset();
    grant(answer, claims);
    const { run, pass } = await openCredentialFilter(t, hostile.issuer, changes);
    const first = setBy(await run(ME)).authorization;
    pass(lifetime - 1_000);
    assert.equal(setBy(await run(ME)).authorization, first, what);
    pass(2_000);
    assert.notEqual(fieldsOrStatus(await run(ME)), first, what);
    assert.equal(asked(), 2, what);
  }
});

function fieldsOrStatus(outcome: Parameters<typeof setBy>[0]): unknown {
  return outcome.kind === 'allow' ? outcome.change.set.get('authorization') : outcome.answer.status;
}

test('a token that ends within the margin is used for those who wait for it, and not kept', async t => {
  grant({ expires_in: 5 });
  const changes = { ...GRANT, expirationSafetyMargin: 10_000 };
  const { run } = await openCredentialFilter(t, hostile.issuer, changes);
  for (const outcome of await Promise.all([run(ME), run(ME)])) setBy(outcome);
  setBy(await run(ME));
  assert.equal(asked(), 2);
});

test('a token got by an assertion is not used for longer than the assertion lives', async t => {
  const jwtAssertion = assertionSettings();
  const changes = { ...GRANT, clientAuthentication: { method: 'JWTAssertion', jwtAssertion } } as const;
  const { run, pass } = await openCredentialFilter(t, hostile.issuer, changes);
  const assertion = {
    'x-gateway-client-assertion': await accessToken({ exp: Math.floor(Date.now() / 1_000) + 60 }),
  };
  setBy(await run(assertion));
  pass(58_000);
  setBy(await run(assertion));
  assert.equal(asked(), 1);
  pass(2_000);
  assert.equal(answerOf(await run(assertion)).status, 403);
});

test('a listed scope that is not granted is 403, offline_access excepted', async t => {
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(ME, ['a']));
  grant({ scope: 'a' });
  setBy(await run(ME, ['a', 'offline_access']));
  for (const _ of [1, 2]) assert.equal(answerOf(await run(ME, ['a', 'b'])).status, 403);
  assert.equal(asked(), 3);
});

test('invalid_scope is 403 and does not count against the client', async t => {
  refuse('invalid_scope', 400);
  const { run, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (let n = 0; n < 8; n += 1) {
    assert.equal(answerOf(await run(ME, ['a'])).status, 403);
    pass(1_000);
  }
  assert.equal(asked(), 8);
});

test('refused credentials are 403 without a challenge', async t => {
  for (const error of ['invalid_client', 'invalid_grant', 'unauthorized_client', 'access_denied']) {
    refuse(error);
    const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
    const answer = answerOf(await run(ME));
    assert.deepEqual([answer.status, fieldOf(answer, 'www-authenticate')], [403, undefined]);
  }
});

test('a refusal is remembered for 1 s, by other replicas too', async t => {
  refuse();
  const { run, replica, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const other = replica();
  for (const attempt of [run, run, other]) assert.equal(answerOf(await attempt(ME)).status, 403);
  assert.equal(asked(), 1);
  grant();
  pass(1_000);
  setBy(await run(ME));
});

test('after 5 refusals a minute for one client ID from one address the answer is 429 without asking', async t => {
  judge();
  const { run, replica, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (let n = 0; n < 5; n += 1) assert.equal(answerOf(await run(as('me', `${n}`))).status, 403);
  for (const attempt of [run, replica()]) {
    const answer = answerOf(await attempt(as('me', 'next')));
    assert.deepEqual([answer.status, fieldOf(answer, 'retry-after')], [429, '60']);
  }
  assert.equal(answerOf(await run(ME)).status, 429);
  assert.equal(asked(), 5);
  setBy(await run(ME, [], '203.0.113.8'));
  assert.equal(answerOf(await run(as('other'))).status, 403);
  pass(60_000);
  setBy(await run(ME));
});

test('after 30 refusals a minute from one address, or one /64, the answer is 429', async t => {
  judge();
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const statuses: number[] = [];
  for (let n = 0; n < 32; n += 1)
    statuses.push(answerOf(await run(as(`client ${n}`), [], `2001:db8::${n.toString(16)}`)).status);
  assert.deepEqual(statuses, [...Array(30).fill(403), 429, 429]);
  assert.equal(asked(), 30);
  setBy(await run(ME, [], '2001:db8:0:1::1'));
});

const waitOf = (outcome: Outcome) => fieldOf(answerOf(outcome), 'retry-after');

test('Retry-After is when the limit of the name ends, here and at other replicas; a try passes then and not before', async t => {
  judge();
  const { run, replica, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const other = replica();
  for (let n = 0; n < 5; n += 1) await run(as('me', `${n}`));
  pass(19_500);
  assert.deepEqual([waitOf(await run(ME)), waitOf(await other(ME))], ['41', '41']);
  pass(37_500);
  assert.deepEqual([waitOf(await run(ME)), waitOf(await other(ME))], ['3', '3']);
  pass(2_999);
  assert.deepEqual([waitOf(await run(ME)), waitOf(await other(ME))], ['1', '1']);
  pass(1);
  for (const one of [run, other]) setBy(await one(ME));
});

test('Retry-After is when the last of the limits ends: of the name, of its network', async t => {
  judge();
  const { run, replica, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (let n = 0; n < 26; n += 1) await run(as(`client ${n}`));
  pass(20_000);
  for (let n = 0; n < 4; n += 1) await run(as('me', `${n}`));
  for (const one of [run, replica()]) assert.equal(waitOf(await one(ME)), '40');
  pass(40_000);
  assert.equal(answerOf(await run(as('me', 'fifth'))).status, 403);
  assert.equal(waitOf(await run(ME)), '20');
  setBy(await run(ME, [], '198.51.100.1'));
});

test('who guesses on while a network is limited waits for a minute from the fifth guess on', async t => {
  judge();
  const { run, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (let n = 0; n < 30; n += 1) await run(as(`client ${n}`));
  pass(50_000);
  const waits: (string | undefined)[] = [];
  for (let n = 0; n < 6; n += 1) waits.push(waitOf(await run(as('me', `${n}`))));
  assert.deepEqual(waits, ['10', '10', '10', '10', '60', '60']);
  pass(10_000);
  assert.equal(waitOf(await run(ME)), '50');
});

test('a clock that is set back makes no limit longer', async t => {
  judge();
  const { run, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (let n = 0; n < 5; n += 1) await run(as('me', `${n}`));
  pass(-3_600_000);
  setBy(await run(ME));
});

test('a 429 is the same for credentials that are right, wrong, or known from elsewhere', async t => {
  judge();
  const { run, replica, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(ME, [], '198.51.100.1'));
  for (let n = 0; n < 5; n += 1) await run(as('me', `${n}`));
  for (const one of [run, replica(), replica()]) {
    pass(12_345);
    const [right, wrong] = [await one(ME), await one(as('me', 'wrong'))];
    assert.deepEqual(answerOf(right), answerOf(wrong));
    assert.equal(answerOf(right).status, 429);
  }
});

test('100 wrong secrets at the same time are tried 5 times, 100 client IDs 30 times', async t => {
  judge();
  const one = await openCredentialFilter(t, hostile.issuer, GRANT);
  await Promise.all(Array.from({ length: 100 }, (_, n) => one.run(as('me', `${n}`))));
  assert.equal(asked(), 5);
  hostile.reset();
  judge();
  const many = await openCredentialFilter(t, hostile.issuer, GRANT);
  await Promise.all(Array.from({ length: 100 }, (_, n) => many.run(as(`client ${n}`))));
  assert.equal(asked(), 30);
});

test('cached tokens do not tell a guesser that he is right', async t => {
  judge();
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(ME, [], '198.51.100.1'));
  for (let n = 0; n < 5; n += 1) await run(as('me', `${n}`));
  assert.equal(answerOf(await run(ME)).status, 429);
  setBy(await run(ME, [], '198.51.100.1'));
});

test('a token in the store does not tell a guesser at another replica either', async t => {
  judge();
  const { run, replica } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(ME, [], '198.51.100.1'));
  for (let n = 0; n < 5; n += 1) await run(as('me', `${n}`));
  assert.equal(answerOf(await replica()(ME)).status, 429);
  setBy(await replica()(ME, [], '198.51.100.1'));
});

test('a network at its limit does not learn of tokens that were got elsewhere', async t => {
  judge();
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(ME, [], '198.51.100.1'));
  for (let n = 0; n < 31; n += 1) await run(as(`client ${n}`));
  assert.equal(answerOf(await run(ME)).status, 429);
  setBy(await run(ME, [], '198.51.100.1'));
});

test('a network at its limit still serves those who had a token there before, and nobody guesses theirs', async t => {
  judge();
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  setBy(await run(ME));
  for (let n = 0; n < 31; n += 1) await run(as(`client ${n}`));
  setBy(await run(ME));
  for (let n = 0; n < 6; n += 1) assert.equal(answerOf(await run(as('me', `${n}`))).status, 429);
  assert.equal(answerOf(await run(ME)).status, 429);
});

test('one whose network is limited does not spoil it for another with the same credentials', async t => {
  judge();
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (let n = 0; n < 31; n += 1) await run(as(`client ${n}`));
  const [limited, fine] = await Promise.all([run(ME), run(ME, [], '198.51.100.1')]);
  assert.equal(answerOf(limited).status, 429);
  setBy(fine);
});

test('an access token that is not valid is 403 and names the check; it is not asked for again for 1 s', async t => {
  grant({}, { iss: 'https://other.test' });
  const { run, pass } = await openCredentialFilter(t, hostile.issuer, GRANT);
  assert.match(
    answerOf(await run(ME)).body,
    /The access token is not valid: the access token is from another issuer/,
  );
  assert.equal(answerOf(await run(ME)).status, 403);
  assert.equal(asked(), 1);
  grant();
  pass(1_000);
  setBy(await run(ME));
});

test('a cached token that is no longer valid is replaced once', async t => {
  grant({ expires_in: 3_600 }, {});
  const { run, pass } = await openCredentialFilter(t, hostile.issuer, {
    ...GRANT,
    accessTokenValidation: 'userinfo',
  });
  setBy(await run(ME));
  let refused = 1;
  hostile.behave('userinfo', () => {
    refused -= 1;
    return refused >= 0 ? { status: 401 } : { body: { sub: 'me' } };
  });
  setBy(await run(ME));
  assert.equal(asked(), 2);
  hostile.behave('userinfo', () => ({ status: 401 }));
  assert.equal(answerOf(await run(ME)).status, 403);
  assert.equal(asked(), 3);
  pass(1);
  assert.equal(answerOf(await run(ME)).status, 403);
  assert.equal(asked(), 3);
});

test('injectRequestHeaders see the token; there is no ID token', async t => {
  const injectRequestHeaders = headerTemplates([['x-sub', '{{ .token.Claims.sub }}[{{ .idToken.Raw }}]']]);
  const { run } = await openCredentialFilter(t, hostile.issuer, { ...GRANT, injectRequestHeaders });
  assert.equal(setBy(await run(ME))['x-sub'], 'me[]');
});

test('a provider that is down or broken is a fault, remembered by nobody', async t => {
  const { run } = await openCredentialFilter(t, hostile.issuer, GRANT);
  for (const answer of [
    'hang up',
    'break off',
    { status: 500 },
    { body: '[]' },
    { status: 400, body: { error: 'invalid_request' } },
  ] as const) {
    hostile.behave('token', () => answer);
    await assert.rejects(run(ME), error => faultOf(error) === 'provider');
  }
  grant();
  setBy(await run(ME));
});

test('a provider that does not answer in time is 504, whether it is asked for keys, a token or userinfo', async t => {
  const changes = { ...GRANT, accessTokenValidation: 'userinfo' } as const;
  for (const endpoint of ['discovery', 'token', 'userinfo'] as const) {
    hostile.reset();
    grant();
    hostile.behave(endpoint, () => 'hang');
    const { replica } = await openCredentialFilter(t, hostile.issuer, changes);
    const run = replica({ deadline: () => AbortSignal.timeout(300) });
    await assert.rejects(run(ME), error => faultOf(error) === 'provider_timeout', endpoint);
  }
});

test('a store that is down is 503, whatever the credentials', async t => {
  const { replica, store } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const down = () => Promise.reject(new StoreUnavailable('away'));
  for (const changes of [
    { read: down },
    { count: down },
    { create: down },
  ] as readonly Partial<RecordStore>[]) {
    const broken: RecordStore = new Proxy(store, {
      get: (target, name) => Reflect.get(changes, name) ?? Reflect.get(target, name).bind(target),
    });
    await assert.rejects(replica({ store: broken })(ME), error => faultOf(error) === 'store');
  }
});

test('the store holds neither credentials nor tokens', async t => {
  judge();
  const { run, dump } = await openCredentialFilter(t, hostile.issuer, GRANT);
  const token = setBy(await run(ME)).authorization?.slice(7) ?? '';
  await run(as('mallory', 'guess'));
  const stolen = (await dump()).toString('latin1');
  for (const secret of ['top secret', 'mallory', 'guess', '203.0.113.7', token, token.slice(-40)])
    assert.ok(secret !== '' && !stolen.includes(secret), secret.slice(0, 9));
});
