import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { activateRules } from '#ext-authz/chain/active-rules.ts';
import type { FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { type Scripts, scriptedKit } from '#ext-authz/testing/scripted-kit.ts';
import { type Any, encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, FILTER, FILTER_POLICY } from '#protos/type-url.ts';
import { type Configuration, FilterSet } from './filter-set.ts';

const resource = (name: string, json: JsonObject, version = '1') => ({
  name,
  version,
  any: encodeAny(json),
});
const filter = (name: string, type: JsonObject) => resource(name, { '@type': FILTER, ...type });
const policy = (name: string, rules: readonly JsonObject[]) =>
  resource(`default/${name}`, { '@type': FILTER_POLICY, namespace: 'default', name, rules });

const JWT = {
  jwks_uri: 'https://idp.test/keys',
  valid_algorithms: ['RS256'],
  leeway_for_expires_at: '-1.5s',
  inject_request_headers: [{ name: 'x-user', value: '{{ .token.Raw }}' }],
  error_response: { realm: 'tokens.default', headers: [], body_template: 'no' },
};
const OAUTH2 = {
  authorization_url: 'https://idp.test',
  client_id: 'site',
  secret: Buffer.from([0, 255]).toString('base64'),
  client_authentication: { method: 'BODY_PASSWORD' },
  protected_origins: [
    { origin: 'http://site.test:8080', internal_origin: 'http://site.test:8080' },
  ],
  extra_authorization_parameters: { prompt: 'login' },
};
const reference = (name: string, fields: JsonObject = {}) => ({
  name,
  namespace: 'default',
  ...fields,
});
const rule = (...filters: readonly JsonObject[]) => ({ host: '*', path: '/a', filters });

type Resource = { readonly name: string; readonly version: string; readonly any: Any };
const change = (typeUrl: string, ...changed: readonly Resource[]) => ({
  typeUrl,
  changed,
  removed: [],
  complete: true,
});

function configurationOf(
  filters: readonly Resource[],
  policies: readonly Resource[],
): Configuration {
  const set = new FilterSet();
  assert.deepEqual(set.update(change(FILTER, ...filters)), { value: undefined });
  const updated = set.update(change(FILTER_POLICY, ...policies));
  assert.ok('value' in updated && updated.value !== undefined, JSON.stringify(updated));
  return updated.value;
}

test('nothing is in force until all of both types has come', () => {
  const set = new FilterSet();
  assert.deepEqual(set.update(change(FILTER_POLICY)), { value: undefined });
  assert.deepEqual(set.update({ ...change(FILTER), complete: false }), { value: undefined });
  const { value } = set.update(change(FILTER)) as { value: Configuration };
  assert.deepEqual([value.definitions.size, value.rules.length], [0, 0]);
});

test('a change in parts is in force with its last part', () => {
  const set = new FilterSet();
  set.update(change(FILTER));
  set.update(change(FILTER_POLICY));
  const first = { ...change(FILTER_POLICY, policy('a', [rule()])), complete: false };
  assert.deepEqual(set.update(first), { value: undefined });
  assert.deepEqual(set.update(change(FILTER, filter('default/t', { jwt: JWT }))), {
    value: undefined,
  });
  const { value } = set.update(change(FILTER_POLICY, policy('b', [rule()]))) as {
    value: Configuration;
  };
  assert.deepEqual(
    value.rules.map(({ id }) => id),
    ['default/a[0]', 'default/b[0]'],
  );
});

describe('a policy that has earlier rules hold', () => {
  const mark = (name: string) =>
    resource(name, { '@type': FILTER_POLICY, namespace: '~', name, earlier_rules: true });
  const inForce = (update: ReturnType<FilterSet['update']>) =>
    (update as { value: Configuration }).value;
  const idsOf = (rules: Configuration['rules']) => rules.map(({ id }) => id);

  test('keeps those that were in force when it came, until it goes', () => {
    const set = new FilterSet();
    set.update(change(FILTER));
    set.update(change(FILTER_POLICY, policy('a', [rule()])));
    const gone = {
      ...change(FILTER_POLICY, mark('~2'), policy('b', [rule()])),
      removed: ['default/a'],
    };
    const first = inForce(set.update(gone));
    assert.deepEqual(idsOf(first.rules), ['default/b[0]']);
    assert.deepEqual(first.earlier.map(idsOf), [['default/a[0]']]);
    const next = inForce(set.update(change(FILTER_POLICY, mark('~3'), policy('b', []))));
    assert.deepEqual(next.earlier.map(idsOf), [['default/a[0]'], ['default/b[0]']]);
    const less = inForce(set.update({ ...change(FILTER_POLICY), removed: ['~2'] }));
    assert.deepEqual(less.earlier.map(idsOf), [['default/b[0]']]);
    assert.deepEqual([less.rules, less.definitions], [next.rules, next.definitions]);
    assert.ok(less.rules === next.rules && less.definitions === next.definitions);
    const last = inForce(set.update({ ...change(FILTER_POLICY), removed: ['~3'] }));
    assert.deepEqual(last.earlier, []);
  });

  test('keeps those from before a change that comes in parts', () => {
    const set = new FilterSet();
    set.update(change(FILTER));
    set.update(change(FILTER_POLICY, policy('a', [rule()])));
    const part = { ...change(FILTER_POLICY, policy('a', []), mark('~2')), complete: false };
    assert.deepEqual(set.update(part), { value: undefined });
    const { earlier, rules } = inForce(set.update(change(FILTER_POLICY, policy('c', [rule()]))));
    assert.deepEqual([idsOf(rules), earlier.map(idsOf)], [['default/c[0]'], [['default/a[0]']]]);
  });

  test('has nothing to keep where nothing was in force', () => {
    const set = new FilterSet();
    set.update(change(FILTER));
    const { earlier, rules } = inForce(set.update(change(FILTER_POLICY, mark('~2'))));
    assert.deepEqual([earlier, rules], [[], []]);
  });

  test('leaves Filters that come while the policies are not complete to the next change', () => {
    const set = new FilterSet();
    set.update(change(FILTER));
    set.update(change(FILTER_POLICY));
    set.update({ ...change(FILTER_POLICY, mark('~2')), complete: false });
    set.update(change(FILTER, filter('default/t', { jwt: JWT })));
    const { definitions } = inForce(set.update(change(FILTER_POLICY)));
    assert.deepEqual([...definitions.keys()], ['default/t']);
  });
});

for (const [why, typeUrl, bad, error] of [
  [
    'a name without namespace',
    FILTER,
    filter('tokens', { jwt: JWT }),
    /^Filter tokens: it is not named/,
  ],
  ['no type', FILTER, filter('default/x', {}), /^Filter default\/x: its type is unknown/],
  [
    'a bad template',
    FILTER,
    filter('default/x', { jwt: { ...JWT, inject_request_headers: [{ name: 'a', value: '{{' }] } }),
    /value is not a template/,
  ],
  [
    'an unknown signing method',
    FILTER,
    filter('default/x', {
      oauth2: {
        ...OAUTH2,
        client_authentication: {
          method: 'JWT_ASSERTION',
          jwt_assertion: { signing_method: 'none' },
        },
      },
    }),
    /signing_method is not known/,
  ],
  [
    'no origin',
    FILTER,
    filter('default/x', { oauth2: { ...OAUTH2, protected_origins: [] } }),
    /protected_origins is empty/,
  ],
  [
    'a message of another type',
    FILTER,
    resource('default/x', { '@type': CLUSTER, name: 'c' }),
    /^Filter default\/x: /,
  ],
  [
    'a host that is not a glob',
    FILTER_POLICY,
    policy('p', [{ host: 'a b', path: '*' }]),
    /^FilterPolicy default\/p: .*host is not a glob/,
  ],
  [
    'an expression that is none',
    FILTER_POLICY,
    policy('p', [rule(reference('t', { if_request_header: { name: 'a', value_regex: '(' } }))]),
    /value_regex/,
  ],
  [
    'a status and filters',
    FILTER_POLICY,
    policy('p', [
      rule(
        reference('t', {
          arguments: { instead_of_redirect: { http_status_code: 403, filters: [reference('t')] } },
        }),
      ),
    ]),
    /instead_of_redirect/,
  ],
] as const) {
  test(`${why} is refused as a whole, by name`, () => {
    const set = new FilterSet();
    const good = filter('default/good', { jwt: JWT });
    const refused = set.update(change(typeUrl, ...(typeUrl === FILTER ? [good, bad] : [bad])));
    assert.match('error' in refused ? refused.error : '', error);
    assert.doesNotMatch(JSON.stringify(refused), /AP8|idp\.test/);
    set.update(change(FILTER_POLICY));
    const after = set.update(change(FILTER)) as { value: Configuration };
    assert.equal(after.value.definitions.size, 0);
  });
}

test('a Filter arrives row by row', () => {
  const { definitions } = configurationOf(
    [filter('ns/login', { oauth2: OAUTH2 }), filter('ns/tokens', { jwt: JWT })],
    [],
  );
  const login = definitions.get('ns/login') as Extract<FilterDefinition, { type: 'OAuth2' }>;
  assert.deepEqual(
    [login.realm, login.settings.grantType, login.settings.clientID],
    ['login.ns', 'AuthorizationCode', 'site'],
  );
  assert.deepEqual([...(login.settings.secret?.reveal() ?? [])], [0, 255]);
  assert.deepEqual(login.settings.clientAuthentication, { method: 'BodyPassword' });
  assert.deepEqual([...login.settings.extraAuthorizationParameters], [['prompt', 'login']]);
  assert.doesNotMatch(JSON.stringify(definitions.get('ns/login')), /AP8/);
  const tokens = definitions.get('ns/tokens') as Extract<FilterDefinition, { type: 'JWT' }>;
  assert.equal(tokens.settings.leewayForExpiresAt, -1500);
  assert.equal(tokens.settings.injectRequestHeaders[0]?.value.text, '{{ .token.Raw }}');
});

test('internal origins have no port: the listener takes it from :authority', () => {
  const { definitions } = configurationOf([filter('ns/login', { oauth2: OAUTH2 })], []);
  const login = definitions.get('ns/login') as Extract<FilterDefinition, { type: 'OAuth2' }>;
  assert.deepEqual(login.settings.protectedOrigins, [
    {
      origin: { scheme: 'http', host: 'site.test', port: 8080 },
      internalOrigin: { scheme: 'http', host: 'site.test' },
      includeSubdomains: false,
    },
  ]);
});

test('a rule arrives row by row', () => {
  const condition = { if_request_header: { name: 'Accept', negate: true, value_regex: '^text/' } };
  const item = reference('login', {
    ...condition,
    on_deny: 'CONTINUE',
    on_allow: 'BREAK',
    arguments: {
      scope: { values: ['a', 'b', 'a'] },
      same_site: 'LAX',
      instead_of_redirect: {
        if_request_header: { name: 'x', value: '1' },
        filters: [reference('tokens', { on_allow: 'CONTINUE' })],
      },
    },
  });
  const { rules } = configurationOf(
    [],
    [
      policy('p', [
        { host: 'A.test', path: '/a', filters: [item] },
        { host: '*', path: '*' },
      ]),
    ],
  );
  const [first, second] = rules;
  const [parsed] = first?.items ?? [];
  assert.deepEqual(
    [first?.id, first?.host, first?.path, second?.items],
    ['default/p[0]', 'a.test', '/a', []],
  );
  assert.deepEqual(
    [parsed?.filter, parsed?.onDeny, parsed?.onAllow],
    ['default/login', 'continue', 'break'],
  );
  assert.deepEqual(parsed?.arguments.scope, ['a', 'b']);
  assert.equal(parsed?.arguments.sameSite, 'lax');
  assert.equal(parsed?.applies(requestWith({ accept: 'text/html' })), false);
  assert.equal(parsed?.applies(requestWith()), true);
  const instead = parsed?.arguments.insteadOfRedirect;
  assert.equal(instead?.applies(requestWith({ x: '1' })), true);
  assert.equal(instead?.applies(requestWith({ x: '2' })), false);
  assert.deepEqual(
    [instead?.status, instead?.items.map(({ filter }) => filter)],
    [undefined, ['default/tokens']],
  );
});

const SCRIPTS: Scripts = {
  'default/login': () => never(),
  'default/tokens': () => never(),
  'default/delegates': () => never(),
  'default/machines': () => never(),
};

function never(): never {
  throw new Error('it does not run');
}

const FILTERS = [
  filter('default/login', { oauth2: OAUTH2 }),
  filter('default/tokens', { jwt: JWT }),
  filter('default/machines', { oauth2: { ...OAUTH2, grant_type: 'CLIENT_CREDENTIALS' } }),
  filter('default/delegates', {
    oauth2: { ...OAUTH2, access_token_jwt_filter: { name: 'tokens', namespace: 'default' } },
  }),
  filter('default/lost', {
    oauth2: { ...OAUTH2, access_token_jwt_filter: { name: 'none', namespace: 'default' } },
  }),
];

const instead = (name: string) => ({
  arguments: { instead_of_redirect: { filters: [reference(name)] } },
});

for (const [why, items, closed] of [
  ['no filters', [], undefined],
  ['a Filter that can run', [reference('login')], undefined],
  ['a Filter that is missing', [reference('login'), reference('none')], 'default/none'],
  ['an inner Filter that is missing', [reference('login', instead('none'))], 'default/none'],
  [
    'an inner filter with AuthorizationCode',
    [reference('login', instead('delegates'))],
    'default/login',
  ],
  ['an inner filter with ClientCredentials', [reference('login', instead('machines'))], undefined],
  ['an inner JWT filter', [reference('login', instead('tokens'))], undefined],
  [
    'SameSite=None over http',
    [reference('login', { arguments: { same_site: 'NONE' } })],
    'default/login',
  ],
  ['SameSite=Lax over http', [reference('login', { arguments: { same_site: 'LAX' } })], undefined],
  ['a Filter whose JWT filter is missing', [reference('lost')], 'default/lost'],
] as const) {
  test(`a rule with ${why} is ${closed === undefined ? 'open' : 'closed'}`, () => {
    const { definitions, rules } = configurationOf(FILTERS, [policy('p', [rule(...items)])]);
    const kit = scriptedKit({ ...SCRIPTS, 'default/lost': () => never() });
    const active = activateRules(rules, definitions, kit.use(definitions));
    assert.equal([...active.closed.values()][0]?.filter, closed);
    assert.equal(active.headers.size, items.length > 0 && closed === undefined ? 1 : 0);
  });
}

test('what the JWT filter of an OAuth2 filter may set is removed from the client too', () => {
  const { definitions, rules } = configurationOf(FILTERS, [
    policy('p', [rule(reference('delegates'))]),
  ]);
  const active = activateRules(rules, definitions, scriptedKit(SCRIPTS).use(definitions));
  assert.deepEqual([...active.headers.values()][0]?.injected, new Set(['x-user']));
});
