/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: operators write these forms */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readObjects } from '../import/source-object.ts';
import type { Site } from './change.ts';
import { CHANGES } from './changes.ts';

const object = (
  kind: string,
  spec: string,
  metadata = '{name: a}',
  group = 'gateway.internal/v2',
) => `---\napiVersion: ${group}\nkind: ${kind}\nmetadata: ${metadata}\nspec: ${spec}\n`;
const secret = (fields: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n${fields}\n`;
const host = (spec: string) => object('Host', spec);
const module = (config: string) => object('Module', `{config: ${config}}`);
const limit = (spec: string, group?: string) => object('RateLimit', spec, '{name: a}', group);
const filter = (origin: string) => object('Filter', `{OAuth2: {protectedOrigins: [${origin}]}}`);

type Given = string | readonly [yaml: string, environment: Site['environment']];

/** What concerns an operator, with a place of it, and what is near and does not. */
const CASES: Readonly<
  Record<string, { concerned: readonly (readonly [Given, string])[]; others: readonly Given[] }>
> = {
  'secret-places': {
    concerned: [[secret('stringData:\n  x: y\n  a: ${env:A}'), 'in.yaml:6 Secret default/a']],
    others: [secret('stringData: {a: plain}'), secret('data: {a: aGVsbG8=}')],
  },
  'acme-orders': {
    concerned: [[host('{hostname: a.test, acmeProvider: {email: a@b.test}}'), 'in.yaml:5 Host']],
    others: [
      host('{hostname: a.test, acmeProvider: {authority: none}}'),
      host('{hostname: a.test}'),
    ],
  },
  'acme-demands': {
    concerned: [
      [host('{hostname: a.test, acmeProvider: {}}'), 'Host default/a'],
      [host('{hostname: "*.a.test", acmeProvider: {email: a@b.test}}'), 'Host default/a'],
    ],
    others: [
      host('{hostname: a.test, acmeProvider: {email: a@b.test}}'),
      host('{acmeProvider: {authority: none}}'),
    ],
  },
  listeners: {
    concerned: [[object('Listener', '{port: 8081}'), 'in.yaml:5 Listener default/a']],
    others: [host('{}')],
  },
  'edge-addresses': {
    concerned: [
      [[object('Listener', '{port: 1}'), { EDGE_ADDRESS: '0.0.0.0:80' }], 'EDGE_ADDRESS'],
    ],
    others: [['', { EDGE_ADDRESS: '0.0.0.0:80' }], object('Listener', '{port: 1}')],
  },
  'names-of-hosts': {
    concerned: [[host('{hostname: a.test}'), 'in.yaml:5 Host default/a']],
    others: [
      host('{hostname: "*"}'),
      host('{}'),
      host('{hostname: a.test}') + module('{serve_other_hosts: true}'),
      '',
    ],
  },
  restrictions: {
    concerned: [
      [object('AuthService', '{}'), 'AuthService default/a'],
      [module('{ip_allow: [{peer: 127.0.0.1}]}'), 'Module default/a'],
      [object('Host', '{tls: {crl_secret: a}}'), 'Host default/a'],
      [object('TLSContext', '{crl_secret: a}'), 'TLSContext default/a'],
    ],
    others: [
      object('AuthService', '{}') + module('{ignore: [AuthService]}'),
      module('{ip_allow: [{peer: 127.0.0.1}], ignore: [ip_allow]}'),
      module('{ip_allow: []}'),
      module('{}'),
    ],
  },
  'services-in-namespaces': {
    concerned: [
      [object('Mapping', '{prefix: /, service: b}', '{name: a, namespace: foo}'), 'Mapping foo/a'],
    ],
    others: [
      object('Mapping', '{prefix: /, service: b}'),
      object('Mapping', '{prefix: /, service: b.foo}', '{name: a, namespace: foo}'),
      object('Mapping', '{prefix: /, service: "127.0.0.1:80"}', '{name: a, namespace: foo}'),
      object(
        'Mapping',
        '{prefix: /, service: b, host_redirect: true}',
        '{name: a, namespace: foo}',
      ),
    ],
  },
  'time-of-answers': {
    concerned: [[object('Mapping', '{prefix: /, timeout_ms: 5000}'), 'Mapping default/a']],
    others: [
      object('Mapping', '{prefix: /}'),
      object('Mapping', '{prefix: /, timeout_ms: 0}'),
      object('Mapping', '{prefix: /, timeout_ms: 5000, service: b, host_redirect: true}'),
    ],
  },
  'both-label-domains': {
    concerned: [
      [limit('{domain: ambassador}') + limit('{domain: gateway}'), 'RateLimit'],
      [limit('{}', 'getambassador.io/v2') + limit('{}'), 'RateLimit'],
    ],
    others: [
      limit('{domain: ambassador}'),
      limit('{}'),
      limit('{domain: ambassador}') + limit('{}') + module('{default_label_domain: gateway}'),
    ],
  },
  'networks-of-clients': {
    concerned: [
      [
        limit('{limits: [{pattern: [{remote_address: "*"}, {k: a, k: b}]}]}'),
        'RateLimit default/a',
      ],
    ],
    others: [limit('{limits: [{pattern: [{generic_key: a}]}]}'), limit('{}')],
  },
  'logins-by-https': {
    concerned: [[filter('{origin: "https://a.test"}'), 'in.yaml:5 Filter default/a']],
    others: [
      filter('{origin: "http://a.test"}'),
      filter('{origin: "https://a.test", includeSubdomains: true}'),
      object('Filter', '{JWT: {}}'),
    ],
  },
  'shared-store-key': {
    concerned: [[['', { REDIS_URL: 'redis://a' }], 'the environment, REDIS_URL']],
    others: [
      ['', { REDIS_URL: 'redis://a', STORE_KEY_FILE: 'key' }],
      ['', {}],
    ],
  },
};

function siteOf(given: Given): Site {
  const [yaml, environment] = typeof given === 'string' ? [given, {}] : given;
  return { objects: readObjects('in.yaml', yaml, true), environment };
}

test('every change has an example of what it concerns, and each name is used once', () => {
  assert.deepEqual(CHANGES.map(({ id }) => id).sort(), Object.keys(CASES).sort());
});

for (const { find, id, remedy, version, what } of CHANGES) {
  const { concerned, others } = CASES[id] ?? { concerned: [], others: [] };

  test(`${id} says in whole sentences what changes and what to do`, () => {
    for (const text of [what, remedy]) assert.match(text, /^[A-Z`].*\.$/);
    assert.match(version, /^\d+\.\d+\.\d+$/);
  });

  for (const [given, place] of concerned)
    test(`${id} concerns ${JSON.stringify(given)}`, () => {
      const found = find(siteOf(given));
      assert.ok(found.length > 0);
      assert.ok(found[0]?.includes(place), found.join('\n'));
    });

  for (const given of others)
    test(`${id} does not concern ${JSON.stringify(given)}`, () => {
      assert.deepEqual(find(siteOf(given)), []);
    });
}

test('resources of any form are looked through, and no value of a Secret is told', () => {
  const odd = ['null', '1', '[]', '{}', '"x"', '{a: [null]}'];
  const kinds = ['Host', 'Mapping', 'Filter', 'RateLimit', 'Module', 'Listener', 'AuthService'];
  const yaml = kinds.flatMap(kind => odd.map(spec => object(kind, spec))).join('');
  const site = siteOf(`${yaml}---\n${secret('stringData: {a: "hunter2 ${env:A}"}')}`);
  const told = CHANGES.flatMap(({ find }) => find(site));
  assert.ok(told.length > 0);
  assert.doesNotMatch(told.join(), /hunter2/);
});
