import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { issueRoot } from '#certificates/authority/root.ts';
import { FILTER, FILTER_POLICY, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { compile } from '../compile.ts';
import type { Compiled } from '../compiled.ts';
import { Memo } from '../memo.ts';
import { EXT_AUTHZ } from '../node-groups.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { IDENTITY_HEADERS } from './identity-headers.ts';

const newCertificate = async () =>
  (await issueRoot({ now: Date.now(), lifetimeMs: 3_600_000 })).certificate;
const [CERTIFICATE, OTHER_CERTIFICATE] = [await newCertificate(), await newCertificate()];

const ADDRESS = { host: '127.0.0.1', port: 1 };
const OPTIONS = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS };

const document = (kind: string, name: string, spec: object, apiVersion = 'gateway.internal/v2') =>
  `---\n${stringify({ apiVersion, kind, metadata: { name }, spec })}`;

const login = (name: string, fields: object = {}) =>
  document('Filter', name, {
    OAuth2: {
      authorizationURL: 'https://idp.test',
      clientID: 'a',
      secretName: 'client',
      protectedOrigins: [{ origin: 'https://site.test' }],
      ...fields,
    },
  });
const secret = (value: string) =>
  `---\n${stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'client' }, stringData: { 'oauth2-client-secret': value } })}`;
const policy = (name: string, host: string) =>
  document('FilterPolicy', name, { rules: [{ host, filters: [{ name: 'login' }] }] });
const mapping = (name: string, fields: object) =>
  document('Mapping', name, { prefix: '/', service: 's', ...fields });

const jsonOf = ({ resources }: Compiled, typeUrl: string) =>
  (resources.get(typeUrl) ?? []).map(({ json }) => JSON.stringify(json)).join('');
const edge = (...documents: readonly string[]) =>
  compile(resourceSetOf(documents.join('')).resources, 'edge', OPTIONS);

test('another value of the Secret is another message of the Filter, and of no other', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const memo = new Memo();
  const filters = (value: string) => {
    const text =
      login('login') + login('other', { secret: 's', secretName: undefined }) + secret(value);
    const { resources } = collect(parse(new Map([['in.yaml', { text }]])));
    return compile(toResourceSet(resources.values(), []), EXT_AUTHZ, {
      ...OPTIONS,
      memo,
    }).resources.get(FILTER);
  };
  const [first, second, third] = [filters('one'), filters('two'), filters('two')];
  assert.notEqual(first?.[0]?.json, second?.[0]?.json);
  assert.equal(first?.[1]?.json, second?.[1]?.json);
  assert.equal(second?.[0]?.json, third?.[0]?.json);
  assert.match(
    JSON.stringify(second?.[0]?.json),
    new RegExp(Buffer.from('two').toString('base64')),
  );
});

test('a margin and a staleness below 0 are sent as 0, or tokens would outlive themselves', () => {
  const text = login('login', { expirationSafetyMargin: '-1.5h', maxStale: '-1s' }) + secret('one');
  const [filter] =
    compile(resourceSetOf(text).resources, EXT_AUTHZ, OPTIONS).resources.get(FILTER) ?? [];
  assert.match(JSON.stringify(filter?.json), /"expiration_safety_margin":"0s".*"max_stale":"0s"/);
});

test('a Filter without its Secret is not sent, its policy is', () => {
  const set = resourceSetOf(login('login') + policy('p', '*')).resources;
  const compiled = compile(set, EXT_AUTHZ, OPTIONS);
  assert.equal(jsonOf(compiled, FILTER), '');
  assert.match(jsonOf(compiled, FILTER_POLICY), /"name":"login"/);
});

const authority = (value: string, key = 'ca.crt') =>
  `---\n${stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ca' }, stringData: { [key]: value } })}`;
const BY_AUTHORITY = [
  login('login', { secret: 's', secretName: undefined, caSecret: 'ca' }),
  document('Filter', 'login', {
    JWT: { jwksURI: 'https://idp.test/keys', caSecret: { name: 'ca', namespace: 'default' } },
  }),
];

for (const key of ['ca.crt', 'tls.crt'])
  test(`the authority of a provider goes to the service that asks it, from ${key}`, () => {
    for (const filter of BY_AUTHORITY) {
      const set = resourceSetOf(filter + authority(CERTIFICATE, key)).resources;
      const sent = jsonOf(compile(set, EXT_AUTHZ, OPTIONS), FILTER);
      assert.ok(sent.includes(`"trusted_ca":"${Buffer.from(CERTIFICATE).toString('base64')}"`));
    }
  });

test('another authority of the Secret is another message of the Filter', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const memo = new Memo();
  const sent = (certificate: string) => {
    const text = BY_AUTHORITY[0] + authority(certificate);
    const { resources } = collect(parse(new Map([['in.yaml', { text }]])));
    const set = toResourceSet(resources.values(), []);
    return compile(set, EXT_AUTHZ, { ...OPTIONS, memo }).resources.get(FILTER)?.[0]?.json;
  };
  const [first, second, third] = [CERTIFICATE, OTHER_CERTIFICATE, OTHER_CERTIFICATE].map(sent);
  assert.notEqual(first, second);
  assert.equal(second, third);
});

for (const [what, documents, fault] of [
  ['is missing', [], 'there is no Secret default/ca in force'],
  [
    'has no authority',
    [authority('x', 'other')],
    'the Secret default/ca has neither `ca.crt` nor `tls.crt`',
  ],
  [
    'holds no certificate',
    [authority('hunter2')],
    'cannot be used: it holds no certificate in PEM',
  ],
] as const) {
  test(`a Filter whose authority ${what} is closed, with a Problem`, () => {
    for (const [index, filter] of BY_AUTHORITY.entries()) {
      const text = [filter, ...documents, policy('p', '*'), mapping('m', {})].join('');
      const { resources } = resourceSetOf(text);
      assert.equal(jsonOf(compile(resources, EXT_AUTHZ, OPTIONS), FILTER), '');
      const { problems } = compile(resources, 'edge', OPTIONS);
      const place = `spec.${index === 0 ? 'OAuth2' : 'JWT'}.caSecret`;
      const told = problems.find(({ field }) => field === place);
      assert.ok(told?.message.includes(fault), told?.message);
      assert.equal(told?.severity, 'error');
      assert.ok(problems.some(({ message }) => message.includes('answers 500')));
      assert.doesNotMatch(JSON.stringify(problems), /hunter2/);
    }
  });
}

test('revocation lists of a provider are rejected, since they would not count', () => {
  const list = '-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n';
  const text = BY_AUTHORITY[0] + authority(CERTIFICATE + list) + mapping('m', {});
  assert.match(JSON.stringify(edge(text).problems), /revocation lists are not served here/);
});

test('no Problem shows a secret', () => {
  const assertion = { clientAuthentication: { method: 'JWTAssertion' } };
  const { problems } = edge(
    login('login', assertion),
    secret('hunter2\n'),
    policy('p', '*'),
    mapping('m', {}),
  );
  assert.ok(problems.length > 0);
  assert.doesNotMatch(JSON.stringify(problems), /hunter2/);
});

test('nothing of a secret is in what proxies get', () => {
  const compiled = edge(login('login'), secret('hunter2'), policy('p', '*'), mapping('m', {}));
  const all = JSON.stringify([...compiled.resources]);
  for (const text of ['hunter2', Buffer.from('hunter2').toString('base64')])
    assert.equal(all.includes(text), false);
});

test('without Filters and FilterPolicies no virtual host asks', () => {
  const hosts = JSON.parse(
    jsonOf(edge(mapping('m', { host: 'a.test' }), mapping('n', {})), ROUTE_CONFIGURATION),
  );
  for (const host of hosts.virtual_hosts)
    assert.match(JSON.stringify(host.typed_per_filter_config), /"disabled":true/);
});

test('a FilterPolicy for another host leaves the routes of a host as they are', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const memo = new Memo();
  const route = (...documents: readonly string[]) => {
    const { resources } = collect(parse(new Map([['in.yaml', { text: documents.join('') }]])));
    const compiled = compile(toResourceSet(resources.values(), []), 'edge', { ...OPTIONS, memo });
    const [json] = (compiled.resources.get(ROUTE_CONFIGURATION) ?? []).map(
      resource => resource.json,
    );
    return (json as unknown as { virtual_hosts: [{ routes: [object] }] }).virtual_hosts[0]
      .routes[0];
  };
  const open = mapping('m', { host: 'a.test' });
  assert.equal(route(open), route(open, login('login'), secret('s'), policy('p', 'b.test')));
});

type VirtualHostJson = {
  readonly domains: readonly string[];
  readonly routes: readonly [Record<string, unknown>];
  readonly typed_per_filter_config?: Record<string, { mutations: { request_mutations: unknown } }>;
};
const virtualHost = (compiled: Compiled, host: string): VirtualHostJson => {
  const hosts: VirtualHostJson[] = JSON.parse(jsonOf(compiled, ROUTE_CONFIGURATION)).virtual_hosts;
  const found = hosts.find(({ domains }) => domains.includes(host));
  assert.ok(found);
  return found;
};
/** Returns what the virtual host of the domain removes from what clients send. */
const removedOn = (host: string, ...documents: readonly string[]) =>
  virtualHost(edge(...documents, mapping('m', { host })), host).typed_per_filter_config?.[
    IDENTITY_HEADERS
  ]?.mutations.request_mutations;
const injecting = (name: string, ...headers: readonly string[]) =>
  login(name, { secret: 's', injectRequestHeaders: headers.map(name => ({ name, value: 'a' })) });

test('a virtual host removes what the Filters of its rules inject, in both spellings', () => {
  const documents = [injecting('login', 'X_User'), policy('p', 'a.test')];
  assert.deepEqual(removedOn('a.test', ...documents), [{ remove: 'x-user' }, { remove: 'x_user' }]);
  assert.deepEqual(removedOn('*', ...documents), [{ remove: 'x-user' }, { remove: 'x_user' }]);
  assert.equal(removedOn('b.test', ...documents), undefined);
});

const tenants = document('Filter', 'tenants', {
  JWT: {
    jwksURI: 'https://idp.test/keys',
    injectRequestHeaders: [{ name: 'X-Tenant', value: 'a' }],
  },
});

test('it removes what a Filter injects that gets the access tokens of those', () => {
  const delegating = { secret: 's', accessTokenJWTFilter: { name: 'tenants' } };
  for (const more of [{}, { clientID: 7 }])
    assert.deepEqual(
      removedOn('a.test', login('login', { ...delegating, ...more }), tenants, policy('p', '*')),
      [{ remove: 'x-tenant' }],
    );
  const elsewhere = { ...delegating, accessTokenJWTFilter: { name: 'tenants', namespace: 'b' } };
  assert.equal(
    removedOn('a.test', login('login', elsewhere), tenants, policy('p', '*')),
    undefined,
  );
});

test('a Mapping may not replace what a Filter injects that gets the access tokens of another', () => {
  const adding = (host: string) =>
    edge(
      secret('s'),
      login('login', { accessTokenJWTFilter: { name: 'tenants' } }),
      tenants,
      policy('p', 'a.test'),
      mapping('m', { host, add_request_headers: { 'x-tenant': { value: 'b', append: false } } }),
    ).problems.filter(({ field }) => field?.startsWith('spec.add_request_headers'));
  const [problem] = adding('a.test');
  assert.match(`${problem?.severity}: ${problem?.message}`, /^error: .*Filter default\/tenants/);
  assert.deepEqual(adding('b.test'), []);
});

test('a Mapping that is chosen by a header which Filters inject has a warning', () => {
  const warnings = (host: string) =>
    edge(
      injecting('login', 'X-User'),
      policy('p', 'a.test'),
      mapping('m', { host, headers: { 'X-User': 'root', 'X-Other': true } }),
    ).problems.filter(({ message }) => message.includes('chooses this route'));
  assert.deepEqual(
    warnings('a.test').map(({ severity, field }) => [severity, field]),
    [['warning', 'spec.headers.x-user']],
  );
  assert.deepEqual(warnings('b.test'), []);
});

test('the client keeps its Authorization for the filters, which settle it', () =>
  assert.deepEqual(
    removedOn('a.test', injecting('login', 'Authorization', 'X-User'), policy('p', '*')),
    [{ remove: 'x-user' }],
  ));

test('a Filter that is rejected injects nothing, and clients do not either', () => {
  const filter = login('login', {
    clientID: 7,
    injectRequestHeaders: [{ name: 'X-User', value: '{{' }, { name: 'Host', value: 'a' }, 8],
  });
  assert.deepEqual(removedOn('a.test', filter, policy('p', 'a.test')), [{ remove: 'x-user' }]);
});

test('a FilterPolicy that is rejected may have named any Filter', () => {
  const broken = document('FilterPolicy', 'p', { rules: [{ host: 'a.test', filters: 7 }] });
  assert.deepEqual(removedOn('a.test', injecting('login', 'X-User'), broken), [
    { remove: 'x-user' },
  ]);
  assert.equal(removedOn('b.test', injecting('login', 'X-User'), broken), undefined);
});

for (const [host, removed] of [
  ['a.test', ['authorization']],
  ['b.test', undefined],
] as const) {
  test(`bypass_auth on ${host} removes ${removed ?? 'nothing'} besides`, () => {
    const injecting = login('login', {
      injectRequestHeaders: [{ name: 'Authorization', value: 'a' }],
    });
    const compiled = edge(
      injecting,
      secret('s'),
      policy('p', 'a.test'),
      mapping('m', { host, bypass_auth: true }),
    );
    const [route] = virtualHost(compiled, host).routes;
    assert.deepEqual(route.request_headers_to_remove, removed);
    assert.match(JSON.stringify(route), /"disabled":true/);
    assert.equal(
      compiled.problems.some(({ field }) => field === 'spec.bypass_auth'),
      removed !== undefined,
    );
  });
}
