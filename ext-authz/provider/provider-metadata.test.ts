import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerError } from '#ext-authz/testing/open-test-provider.ts';
import { discoverySource, endpointOf, parseMetadata } from './provider-metadata.ts';

const ISSUER = 'https://idp.test/realm';
const parse = (changes: object, authorizationURL = ISSUER) =>
  parseMetadata(
    { issuer: ISSUER, token_endpoint: `${ISSUER}/token`, ...changes },
    authorizationURL,
  );

function caught(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

for (const url of [ISSUER, `${ISSUER}/`, `${ISSUER}///`]) {
  test(`the discovery document of ${url} is below it, without double slash`, () => {
    assert.equal(discoverySource(url).url, `${ISSUER}/.well-known/openid-configuration`);
  });
}

test('the issuer may differ by one trailing slash, on either side', () => {
  assert.equal(parse({}, `${ISSUER}/`).issuer, ISSUER);
  assert.equal(parse({ issuer: `${ISSUER}/` }).issuer, `${ISSUER}/`);
});

for (const issuer of [
  'https://evil.test',
  `${ISSUER}//`,
  `${ISSUER}/x`,
  ISSUER.toUpperCase(),
  'http://idp.test/realm',
  '',
]) {
  test(`the issuer ${JSON.stringify(issuer)} is another one, and the error names both`, () => {
    const error = caught(() => parse({ issuer }));
    for (const text of [ISSUER, issuer]) assert.ok(providerError('issuer_mismatch', text)(error));
  });
}

test('an issuer that is a pattern for many tenants is told as that', () => {
  const common = 'https://login.test/common/v2.0';
  const error = caught(() => parse({ issuer: 'https://login.test/{tenantid}/v2.0' }, common));
  assert.ok(
    providerError(
      'issuer_mismatch',
      /\{tenantid\}.*\. authorizationURL must name one tenant/,
    )(error),
  );
});

test('an issuer that is no text is refused', () => {
  for (const issuer of [undefined, null, 1, [ISSUER]])
    assert.throws(() => parse({ issuer }), providerError('invalid_answer'));
});

test('a document that is no object is refused', () => {
  for (const json of [null, [], 'x', 1])
    assert.throws(() => parseMetadata(json, ISSUER), providerError('invalid_answer'));
});

for (const name of [
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'end_session_endpoint',
]) {
  test(`${name} of an https provider must be https`, () => {
    assert.throws(
      () => parse({ [name]: 'http://idp.test/x' }),
      providerError('invalid_answer', name),
    );
  });
}

test('endpoints of an http provider may be http and https', () => {
  const http = 'http://127.0.0.1:9000';
  const metadata = parse(
    { issuer: http, token_endpoint: 'https://idp.test/token', jwks_uri: `${http}/jwks` },
    http,
  );
  assert.equal(metadata.jwks_uri, `${http}/jwks`);
});

for (const url of [
  'token',
  '//idp.test/x',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://',
  7,
  {},
]) {
  test(`${JSON.stringify(url)} is no endpoint`, () => {
    assert.throws(
      () => parse({ token_endpoint: url }),
      providerError('invalid_answer', 'token_endpoint'),
    );
  });
}

for (const url of [
  'https://user@idp.test/',
  'https://:password@idp.test/',
  'https://idp.test/#x',
]) {
  test(`an endpoint has no user, password or fragment: ${url}`, () => {
    assert.throws(
      () => parse({ token_endpoint: url }),
      providerError('invalid_answer', 'token_endpoint'),
    );
  });
}

test('an endpoint that is missing, null or empty is told when it is needed', () => {
  for (const jwks_uri of [undefined, null, '']) {
    const metadata = parse({ jwks_uri });
    assert.throws(
      () => endpointOf(metadata, 'jwks_uri'),
      providerError('missing_endpoint', 'jwks_uri'),
    );
  }
});

test('members of Object.prototype are no endpoints', () => {
  const json: unknown = JSON.parse(
    `{"issuer":"${ISSUER}","__proto__":{"token_endpoint":"https://evil.test/"}}`,
  );
  assert.throws(
    () => endpointOf(parseMetadata(json, ISSUER), 'token_endpoint'),
    providerError('missing_endpoint'),
  );
});

test('an endpoint is at most 4,096 characters long, and a longer one is not quoted', () => {
  const url = `${ISSUER}/`.padEnd(4_096, 'a');
  assert.equal(parse({ jwks_uri: url }).jwks_uri, url);
  const error = caught(() => parse({ jwks_uri: `${url}a` }));
  assert.ok(providerError('invalid_answer', 'more than 4096 characters in `jwks_uri`')(error));
  assert.ok(error instanceof Error && error.message.length < 200);
});
