import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { limitRows } from './limits.ts';
import { redacted, SENSITIVE } from './redacted.ts';

test('values that may be credentials are hidden, wherever they stand', () => {
  const shown = JSON.stringify(
    redacted({
      add_request_headers: {
        Authorization: 'Basic s3cret',
        'X-Api-Key': { value: 's3cret' },
        'x-team': 'a',
      },
      headers: [{ name: 'cookie', string_match: { exact: 's3cret' } }],
      secret: 's3cret',
      nested: [{ password: 's3cret' }, null, 1, 'plain'],
      tlsSecret: { name: 'site-certificate' },
    }),
  );
  assert.doesNotMatch(shown, /s3cret/);
  for (const part of ['"x-team"', 'site-certificate', 'plain'])
    assert.ok(shown.includes(part), part);
});

test('every value of a header or a parameter is hidden, whatever its name, and names are not', () => {
  const shown = redacted({
    headers: { name: 's3cret', 'x-auth-key': 's3cret', 'x-any': true, ':authority': 'a.test' },
    regex_headers: { value: 's3cret|s3cret2' },
    query_parameters: { sig: 's3cret' },
    health_checks: [{ health_check: { http: { add_request_headers: { 'x-a': 's3cret' } } } }],
    add_response_headers: { 'x-b': { value: 's3cret', append: false } },
    rules: [
      {
        matches: [
          {
            headers: [{ name: 'x-c', type: 'Exact', value: 's3cret' }],
            queryParams: [{ name: 'd', value: 's3cret' }],
          },
        ],
        filters: [
          { requestHeaderModifier: { set: [{ name: 'x-e', value: 's3cret' }], remove: ['x-f'] } },
        ],
      },
    ],
    cors: { headers: ['x-g'] },
    labels: { d: [{ g: [{ who: { header: 'x-auth' } }, { generic_key: { value: 'a' } }] }] },
    bypass_auth: true,
    metadata: {
      name: 'auth',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 's3cret' },
    },
  });
  const text = JSON.stringify(shown);
  assert.doesNotMatch(text, /s3cret/);
  for (const part of ['"x-any":true', '"a.test"', '"append":false', '"type":"Exact"', '"x-f"'])
    assert.ok(text.includes(part), part);
  for (const part of ['"x-g"', '"header":"x-auth"', '"value":"a"', '"bypass_auth":true', '"auth"'])
    assert.ok(text.includes(part), part);
});

test('names that say that a value may be a credential', () => {
  const sensitive =
    'authorization x-auth x-auth-key x-access-key x-api-key api_key apikey key x-session-id sig ' +
    'x-amz-signature jwt x-passwd proxy-authorization cookie x-csrf-token x-authenticated-user';
  for (const name of sensitive.split(' ')) assert.match(name, SENSITIVE);
  const harmless =
    ':authority authority :method :path x-author x-author-id generic_key x-keyboard x-design ' +
    'user-agent x-tenant x-user host remote_address';
  for (const name of harmless.split(' ')) assert.doesNotMatch(name, SENSITIVE);
});

test('a limit names the labels that may be credentials, without their values', () => {
  const { resources } = resourceSetOf(`apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: few }
spec:
  domain: d
  limits: [{ pattern: [{ generic_key: users }, { api_key: s3cret }, { auth: "*" }], rate: 1, unit: minute }]
`);
  assert.deepEqual(
    limitRows(resources, []).map(({ pattern }) => pattern),
    ['generic_key=users, api_key=(not shown), auth=*'],
  );
});
