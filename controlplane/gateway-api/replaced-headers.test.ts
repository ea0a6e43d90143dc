import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Memo } from '#controlplane/compile/memo.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import type { GatewayApi, ServedRule } from './served-gateway.ts';
import { servedGateways } from './served-gateways.ts';
import { CLASS, gateway, object, service } from './testing/documents.ts';
import { OPTIONS } from './testing/served.ts';
import { statusLines } from './testing/told.ts';

const ours = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}, namespace: infra}\nspec: {${spec}}\n`;

const FILTER = ours(
  'Filter',
  'f',
  'JWT: {jwksURI: "https://keys.test/keys", injectRequestHeaders: [{name: X-User, value: a}]}',
);
const LOGIN = ours(
  'Filter',
  'login',
  'OAuth2: {authorizationURL: "https://idp.test", clientID: a, secret: s, protectedOrigins: [{origin: "https://a.test"}], accessTokenJWTFilter: {name: f}}',
);
const NAMED = 'type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: f}';
const policyFor = (kind: string, name: string, more = '') =>
  ours(
    'FilterPolicy',
    'p',
    `targetRefs: [{kind: ${kind}, name: ${name}${more}}], filters: [{name: f}]`,
  );

/** Two listeners, `a` perhaps with Filters, and a route with a rule for `/two` as it is. */
function site(change: string, { listener = '', named = '', backend = '' } = {}): string {
  const list = [named, change].filter(each => each !== '').map(each => `{${each}}`);
  const filters = list.length === 0 ? '' : `filters: [${list}], `;
  return [
    CLASS,
    service('web'),
    gateway(
      'site',
      `listeners: [{name: a, port: 80, protocol: HTTP${listener}}, {name: b, port: 81, protocol: HTTP}]`,
    ),
    object(
      'HTTPRoute',
      'web',
      `parentRefs: [{name: site}], rules: [{${filters}backendRefs: [{name: web, port: 80${backend}}]}, {matches: [{path: {value: /two}}], backendRefs: [{name: web, port: 80}]}]`,
    ),
  ].join('');
}

function api(text: string): GatewayApi {
  const { resources, rejected } = parseFile('in.yaml', text + FILTER, DEFAULT_PARSE_OPTIONS);
  const set = { ...toResourceSet(resources, rejected), knowsServices: true };
  return servedGateways(set, OPTIONS, new Memo());
}

/** Returns the rules that are closed, `<listener>/<rule>`. */
function closedIn({ gateways }: GatewayApi): readonly string[] {
  return gateways
    .flatMap(({ listeners }) => listeners)
    .flatMap(({ name, routes }) =>
      routes.flatMap(({ rules }) => {
        const all: readonly ServedRule<unknown>[] = rules;
        return all.flatMap(({ broken, index }) => (broken === undefined ? [] : `${name}/${index}`));
      }),
    );
}

const modifier = (fields: string) =>
  `type: RequestHeaderModifier, requestHeaderModifier: {${fields}}`;
const SET = modifier('set: [{name: x_user, value: admin}]');
const BEFORE = `, filters: {requests: [{${NAMED}}]}`;

describe('a rule that sets a header which a Filter sets is closed where that Filter runs', () => {
  const COVERED: readonly [by: string, text: string, closed: readonly string[], field?: string][] =
    [
      ['a policy for its Gateway', site(SET) + policyFor('Gateway', 'site'), ['a/0', 'b/0']],
      [
        'a policy for a listener',
        site(SET) + policyFor('Gateway', 'site', ', sectionName: b'),
        ['b/0'],
      ],
      ['a policy for the route', site(SET) + policyFor('HTTPRoute', 'web'), ['a/0', 'b/0']],
      [
        'a login that hands it the access tokens',
        site(SET) + LOGIN + policyFor('Gateway', 'site').replace('{name: f}', '{name: login}'),
        ['a/0', 'b/0'],
      ],
      ['the rule itself', site(SET, { named: NAMED }), ['a/0', 'b/0'], 'filters[1]'],
      ['a listener', site(SET, { listener: BEFORE }), ['a/0']],
      [
        'a policy, and its backend sets it',
        site('', { backend: `, filters: [{${SET}}]` }) + policyFor('Gateway', 'site'),
        ['a/0', 'b/0'],
        'backendRefs[0].filters[0]',
      ],
      [
        'a policy, and it adds a value',
        site(modifier('add: [{name: X-USER, value: admin}]')) + policyFor('Gateway', 'site'),
        ['a/0', 'b/0'],
      ],
    ];
  for (const [by, text, closed, field = 'filters[0]'] of COVERED)
    test(`it is named by ${by}`, () => {
      const found = api(text);
      assert.deepEqual(closedIn(found), closed);
      assert.deepEqual(
        found.problems.map(({ field, name, severity }) => `${severity} ${name} ${field}`),
        [`error web spec.rules[0].${field}`],
      );
      assert.match(found.problems[0]?.message ?? '', /is set by the Filter infra\/f/);
      assert.deepEqual(statusLines(found, 'HTTPRoute/infra/web'), [
        'Gateway site: Accepted ResolvedRefs PartiallyInvalid:UnsupportedValue',
      ]);
    });

  const OPEN: readonly [what: string, text: string][] = [
    ['no Filter runs', site(SET)],
    [
      'it sets another header',
      site(modifier('set: [{name: X-Users, value: a}]')) + policyFor('Gateway', 'site'),
    ],
    ['it removes the header', site(modifier('remove: [X-User]')) + policyFor('Gateway', 'site')],
    [
      'it changes the response',
      site(
        'type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: X-User, value: a}]}',
      ) + policyFor('Gateway', 'site'),
    ],
    ['nothing is changed', site('') + policyFor('Gateway', 'site')],
  ];
  for (const [what, text] of OPEN)
    test(`it is open where ${what}`, () => {
      const found = api(text);
      assert.deepEqual([closedIn(found), found.problems], [[], []]);
    });
});
