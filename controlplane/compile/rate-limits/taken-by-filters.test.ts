import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { takenByFilters } from './taken-by-filters.ts';

const OAUTH2 = {
  authorizationURL: 'https://login.example.com',
  clientID: 'c',
  secret: 's',
  protectedOrigins: [{ origin: 'https://a.example.com' }],
};
const JWT = { jwksURI: 'https://login.example.com/keys' };
const READS = { ifRequestHeader: { name: 'x-user' } };

const policy = (reference: object) => ({ rules: [{ filters: [{ name: 'f', ...reference }] }] });

const TAKEN: readonly (readonly [string, string, 'Filter' | 'FilterPolicy', object])[] = [
  ['a JWT filter', 'authorization', 'Filter', { JWT }],
  ['an OAuth2 filter', 'authorization', 'Filter', { OAuth2: OAUTH2 }],
  ['useSessionCookies', 'x-user', 'Filter', { OAuth2: { ...OAUTH2, useSessionCookies: READS } }],
  ['the condition of a filter', 'x-user', 'FilterPolicy', policy(READS)],
  [
    'the condition of insteadOfRedirect',
    'x-user',
    'FilterPolicy',
    policy({ arguments: { insteadOfRedirect: READS } }),
  ],
  [
    'the condition of a filter of insteadOfRedirect',
    'x-user',
    'FilterPolicy',
    policy({ arguments: { insteadOfRedirect: { filters: [{ name: 'g', ...READS }] } } }),
  ],
];

for (const [reader, header, kind, spec] of TAKEN) {
  test(`no limit sets ${header}, which ${reader} needs`, () => {
    const text = stringify({
      apiVersion: 'gateway.internal/v2',
      kind,
      metadata: { name: 'r' },
      spec,
    });
    const taken = takenByFilters(resourceSetOf(text).resources);
    assert.ok(
      taken.some(({ name }) => name === header),
      JSON.stringify(taken),
    );
  });
}
