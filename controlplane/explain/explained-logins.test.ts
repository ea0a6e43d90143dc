import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  chainOf,
  document,
  explained,
  jwt,
  LOGIN,
  mapping,
  policy,
  section,
} from './testing/explained.ts';

const REFUSED: readonly (readonly [string, string, number | undefined])[] = [
  ['alone', '{name: login}', 403],
  [
    'after one that is skipped',
    '{name: tokens, ifRequestHeader: {name: X-No}, onAllow: break}, {name: login}',
    403,
  ],
  ['after one that may answer', '{name: tokens}, {name: login}', 403],
  ['after one that may skip it', '{name: tokens, onAllow: break}, {name: login}', undefined],
  ['and its answer is forgotten', '{name: login, onDeny: continue}', undefined],
  ['and is skipped', '{name: login, ifRequestHeader: {name: X-No}}', undefined],
];
for (const [where, items, status] of REFUSED) {
  test(`a login filter that does not protect the host, ${where}: ${status ?? 'may pass'}`, () => {
    const yaml = LOGIN + jwt('tokens') + policy(`{filters: [${items}]}`) + mapping();
    const explanation = explained(yaml, { url: 'http://elsewhere.test/' });
    assert.equal(explanation.answer?.status, status);
    assert.match(
      section(explanation).join('\n'),
      /http:\/\/elsewhere\.test is no protected origin: the filter answers 403/,
    );
  });
}

const ENDPOINTS: readonly (readonly [string, number | undefined, readonly string[]])[] = [
  [
    'http://site.test/.gateway/oauth2/redirection-endpoint?code=c0de',
    undefined,
    [
      "  the gateway's own callback, where logins come back from the provider",
      '    of Filter default/login, protected origin http://site.test',
    ],
  ],
  [
    'http://site.test/.gateway/oauth2/login?realm=login.default',
    undefined,
    [
      "  the gateway's own login, for which the provider asks who logs in",
      '    of Filter default/login, protected origin http://site.test',
    ],
  ],
  [
    'http://x.other.test/.gateway/oauth2/logout',
    undefined,
    [
      "  the gateway's own logout",
      '    of Filter default/login, protected origin http://other.test, as http://x.other.test, whose logins another origin holds',
    ],
  ],
  [
    'http://elsewhere.test/.gateway/oauth2/x',
    404,
    [
      "  a path of the gateway's own, of which there is no page",
      '    of no Filter: none protects http://elsewhere.test',
    ],
  ],
];
for (const [url, status, lines] of ENDPOINTS) {
  test(`${url} is the gateway's own`, () => {
    const yaml = LOGIN + policy(`{filters: [{name: login}]}`) + mapping();
    const explanation = explained(yaml, { url });
    assert.ok(explanation.answer !== undefined);
    assert.equal(explanation.answer.status, status);
    assert.deepEqual(section(explanation), lines);
  });
}

test('a Filter for https does not protect a host that is asked over http', () => {
  const https = LOGIN.replaceAll('http://site', 'https://site').replaceAll(
    'http://other',
    'https://other',
  );
  const module = document('Module', 'gateway', '{config: {xff_num_trusted_hops: 1}}');
  const yaml = module + https + policy('{filters: [{name: login}]}') + mapping();
  const plain = explained(yaml);
  assert.deepEqual(plain.answer, {
    status: 403,
    reason: 'http://site.test is no protected origin of Filter default/login',
  });
  const [filter] = chainOf(explained(yaml, { header: ['X-Forwarded-Proto: https'] }));
  assert.equal(filter?.login?.origin?.configured, 'https://site.test');
});

test('the own paths of the gateway are no route that was meant', () => {
  const yaml = LOGIN + document('Mapping', 'a', '{prefix: /a, host: site.test, service: s}');
  const { nearest } = explained(yaml, { url: 'http://site.test/.gateway/oauth' });
  assert.deepEqual(
    nearest?.map(({ resource }) => resource),
    ['Mapping default/a'],
  );
});
