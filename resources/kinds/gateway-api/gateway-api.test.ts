import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isGatewayApiKind } from '#resources/kinds/known-kinds.ts';
import type { Resource } from '#resources/resource.ts';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';

const VALID = readFileSync(join(import.meta.dirname, 'testdata', 'valid.yaml'), 'utf8');

const documentOf = (kind: string, spec: unknown, version = 'v1') =>
  JSON.stringify({
    apiVersion: `gateway.networking.k8s.io/${version}`,
    kind,
    metadata: { name: 'x' },
    spec,
  });

/** The Problems of one object, as `error rules[0]: message`. */
const problems = (kind: string, spec: unknown) =>
  problemLines(parseText(documentOf(kind, spec))).map(line =>
    line.replace(/^\d+ (\w+) spec\.?/, '$1 '),
  );

function read<K extends Resource['kind']>(kind: K, spec: unknown): Resource<K>['spec'] {
  const [resource] = parseText(documentOf(kind, spec)).resources;
  assert.equal(resource?.kind, kind, problems(kind, spec).join('\n'));
  return resource.spec as Resource<K>['spec'];
}

test('each field of each kind is read, in each version', () => {
  const parsed = parseText(VALID);
  assert.deepEqual(problemLines(parsed), []);
  assert.equal(parsed.resources.length, VALID.split('---\n').length);
  assert.equal(new Set(parsed.resources.map(({ kind }) => kind)).size, 10);
  assert.ok(parsed.resources.every(({ kind }) => isGatewayApiKind(kind)));
});

describe('what is left out has the default of the API', () => {
  test('in an HTTPRoute', () => {
    const everything = { path: { type: 'PathPrefix', value: '/' }, headers: [], queryParams: [] };
    const rule = { matches: [everything], filters: [], backendRefs: [] };
    assert.deepEqual(read('HTTPRoute', {}), { parentRefs: [], hostnames: [], rules: [rule] });
    assert.deepEqual(read('HTTPRoute', { rules: [{ matches: [] }] }).rules, [rule]);
    const [backend] =
      read('HTTPRoute', { rules: [{ backendRefs: [{ name: 'a', port: 1 }] }] }).rules[0]
        ?.backendRefs ?? [];
    assert.deepEqual(backend, {
      group: '',
      kind: 'Service',
      name: 'a',
      port: 1,
      weight: 1,
      filters: [],
    });
  });

  test('in a listener', () => {
    const listeners = [
      { name: 'a', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'c' }] } },
    ];
    const [listener] = read('Gateway', { gatewayClassName: 'c', listeners }).listeners;
    assert.deepEqual(listener?.allowedRoutes, { namespaces: { from: 'Same' }, kinds: [] });
    assert.deepEqual(listener.tls, {
      mode: 'Terminate',
      certificateRefs: [{ group: '', kind: 'Secret', name: 'c' }],
      options: {},
    });
  });
});

const DURATIONS: readonly [written: string, ms: number][] = [
  ['0s', 0],
  ['1h30m', 5_400_000],
  ['1s500ms', 1_500],
  ['99999h', 359_996_400_000],
];

for (const [written, ms] of DURATIONS)
  test(`${written} is ${ms} ms`, () => {
    const [rule] = read('HTTPRoute', { rules: [{ timeouts: { backendRequest: written } }] }).rules;
    assert.equal(rule?.timeouts?.backendRequest, ms);
  });

test('of headers that differ in letter case only the first counts', () => {
  const headers = ['X-A', 'x-a', 'x-b'].map((name, at) => ({ name, value: `${at}` }));
  const [rule] = read('HTTPRoute', { rules: [{ matches: [{ headers }] }] }).rules;
  assert.deepEqual(
    rule?.matches[0]?.headers.map(({ name, value }) => [name, value]),
    [
      ['X-A', '0'],
      ['x-b', '2'],
    ],
  );
});

test('an unknown field is dropped with a warning, as the API drops it', () => {
  assert.deepEqual(problems('HTTPRoute', { hostname: ['a.example'] }), [
    'warning hostname: unknown field `hostname`, did you mean `hostnames`?',
  ]);
});

const rule = (fields: object) => ({ rules: [fields] });
const filters = (...list: readonly object[]) => rule({ filters: list });
const match = (fields: object) => rule({ matches: [fields] });
const backend = { name: 'a', port: 1 };
const prefix = { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } };
const redirect = { type: 'RequestRedirect', requestRedirect: {} };
const listeners = (...list: readonly object[]) => ({
  gatewayClassName: 'c',
  listeners: list.map((fields, at) => ({
    name: `l${at}`,
    port: at + 1,
    protocol: 'HTTP',
    ...fields,
  })),
});

const REJECTED: readonly [kind: string, spec: object, problem: RegExp][] = [
  ['GatewayClass', { controllerName: 'x' }, /^controllerName: .* a domain and a path/],
  ['Gateway', { listeners: [] }, /^gatewayClassName: `gatewayClassName` is required/],
  ['Gateway', listeners(), /^listeners: `listeners` must not be empty$/],
  ['Gateway', listeners({ port: 0 }), /^listeners\[0\]\.port: .* a port from 1 to 65535, not 0$/],
  ['Gateway', listeners({ tls: { options: { a: 'b' } } }), /`tls` is not for `protocol: HTTP`$/],
  ['Gateway', listeners({ protocol: 'HTTPS', tls: {} }), /a certificate is required/],
  ['Gateway', listeners({ protocol: 'TLS' }), /`tls` with a `mode` is required/],
  ['Gateway', listeners({ protocol: 'TCP', hostname: 'a' }), /`hostname` is not for/],
  ['Gateway', listeners({ name: 'a' }, { name: 'a' }), /there is a listener "a" before$/],
  ['Gateway', listeners({ port: 5 }, { port: 5 }), /has this port, protocol and hostname$/],
  ['HTTPRoute', { hostnames: ['1.2.3.4:80'] }, /^hostnames\[0\]: an item of `hostnames` must be/],
  ['HTTPRoute', { rules: [] }, /^rules: `rules` must not be empty$/],
  [
    'HTTPRoute',
    { parentRefs: [{ name: 'a' }, { name: 'a', port: 1 }] },
    /^parentRefs\[1\]: several references to one parent must each have another/,
  ],
  [
    'HTTPRoute',
    {
      parentRefs: [
        { name: 'a', port: 1 },
        { name: 'a', port: 1 },
      ],
    },
    /^parentRefs\[1\]: several references/,
  ],
  ['HTTPRoute', match({ path: { value: 'a' } }), /a path begins with "\/"$/],
  ['HTTPRoute', match({ path: { value: '/a/../b' } }), /must not hold "\/..\/"$/],
  ['HTTPRoute', match({ path: { value: '/a/.' } }), /must not end with "\/."$/],
  ['HTTPRoute', match({ path: { value: '/a?b' } }), /characters of a URL only$/],
  [
    'HTTPRoute',
    match({ path: { type: 'RegularExpression', value: '(' } }),
    /Cannot parse regular expression: missing closing \)$/,
  ],
  [
    'HTTPRoute',
    match({ path: { type: 'RegularExpression', value: '' } }),
    /path\.value: an expression must not be empty$/,
  ],
  ...['service', 'method'].flatMap(part =>
    ['(', '\\Qa'].map((value): (typeof REJECTED)[number] => [
      'GRPCRoute',
      match({ method: { type: 'RegularExpression', service: 'a', [part]: value } }),
      new RegExp(`method\\.${part}: Cannot parse regular expression: missing closing \\)$`),
    ]),
  ),
  [
    'HTTPRoute',
    match({
      headers: [
        { name: 'a', value: 'b' },
        { name: 'a', value: 'c' },
      ],
    }),
    /headers\[1\]: a header of this name is already in the list$/,
  ],
  ['HTTPRoute', match({ method: 'get' }), /must be one of `GET`, .*, did you mean `GET`\?$/],
  ['HTTPRoute', rule({ backendRefs: [{ name: 'a' }] }), /`port` is required for a Service$/],
  ['HTTPRoute', filters({ type: 'CORS' }), /`cors` is required for `type: CORS`$/],
  [
    'HTTPRoute',
    filters({ ...redirect, urlRewrite: {} }),
    /`urlRewrite` is only for `type: URLRewrite`$/,
  ],
  ['HTTPRoute', filters(redirect, redirect), /a filter RequestRedirect is already in the list$/],
  [
    'HTTPRoute',
    filters(redirect, { type: 'URLRewrite', urlRewrite: {} }),
    /RequestRedirect and URLRewrite exclude each other$/,
  ],
  [
    'HTTPRoute',
    rule({ filters: [redirect], backendRefs: [backend] }),
    /a rule with a RequestRedirect has no backends$/,
  ],
  [
    'HTTPRoute',
    rule({
      matches: [{ path: { type: 'Exact' } }],
      filters: [{ type: 'URLRewrite', urlRewrite: prefix }],
    }),
    /`replacePrefixMatch` needs one match in the rule, a `PathPrefix`$/,
  ],
  [
    'HTTPRoute',
    rule({ timeouts: { request: '1s', backendRequest: '2s' } }),
    /`backendRequest` must not exceed `request`$/,
  ],
  ...['RequestRedirect', 'URLRewrite'].map((type): (typeof REJECTED)[number] => {
    const path = { type: 'ReplaceFullPath', replaceFullPath: '/a\nb' };
    const field = type === 'URLRewrite' ? 'urlRewrite' : 'requestRedirect';
    return ['HTTPRoute', filters({ type, [field]: { path } }), /replaceFullPath: .* in one line/];
  }),
  ['HTTPRoute', rule({ timeouts: { request: '1.5s' } }), /must be a duration such as/],
  [
    'HTTPRoute',
    { rules: [{ name: 'a' }, { name: 'a' }] },
    /^rules\[1\]\.name: there is a rule "a" before$/,
  ],
  [
    'HTTPRoute',
    { rules: [0, 1, 2].map(() => ({ matches: Array.from({ length: 43 }, () => ({})) })) },
    /^rules: a route may have 128 matches in all its rules, not 129$/,
  ],
  [
    'HTTPRoute',
    rule({ sessionPersistence: { cookie: { lifetimeType: 'Permanent' } } }),
    /`absoluteTimeout` is required/,
  ],
  ['GRPCRoute', match({ method: {} }), /`service` or `method` is required$/],
  ['GRPCRoute', match({ method: { service: '/a' } }), /it is no name of a service$/],
  ['TLSRoute', { rules: [{ backendRefs: [backend] }] }, /^hostnames: `hostnames` is required/],
  [
    'TLSRoute',
    { hostnames: ['10.0.0.1'], ...rule({ backendRefs: [backend] }) },
    /"10.0.0.1" is an address, and SNI holds names only$/,
  ],
  ['TCPRoute', rule({ backendRefs: [] }), /`backendRefs` must not be empty$/],
  ['UDPRoute', { rules: [{}, {}] }, /a list of one rule|is required/],
  ['ReferenceGrant', { from: [], to: [] }, /^from: `from` must not be empty$/],
  [
    'BackendTLSPolicy',
    {
      targetRefs: [{ group: '', kind: 'Service', name: 'a' }],
      validation: { hostname: 'a.example' },
    },
    /one of `caCertificateRefs` and `wellKnownCACertificates` is required$/,
  ],
];

for (const [kind, spec, problem] of REJECTED)
  test(`${kind} ${JSON.stringify(spec).slice(0, 120)} is rejected`, () => {
    const [first = ''] = problems(kind, spec).filter(line => line.startsWith('error '));
    assert.match(first.replace('error ', ''), problem);
    assert.deepEqual(parseText(documentOf(kind, spec)).resources, []);
  });

describe('the head of a document', () => {
  const lines = (text: string) => problemLines(parseText(text));

  test('has a version that is read', () => {
    assert.deepEqual(lines(documentOf('HTTPRoute', {}, 'v1alpha2')), [
      '1 error apiVersion: `gateway.networking.k8s.io/v1alpha2` is not read for HTTPRoute. Write `gateway.networking.k8s.io/v1`',
    ]);
  });

  test('has a kind that is read, or is told of', () => {
    assert.deepEqual(lines(documentOf('HTTPRout', {})), [
      '1 error kind: unknown kind `HTTPRout`, did you mean `HTTPRoute`?',
    ]);
    assert.deepEqual(lines(documentOf('Wombat', {})), [
      '1 warning apiVersion: Wombat of Gateway API is not read: it has no effect here',
    ]);
  });

  test('has a kind', () => {
    const [line = ''] = lines('apiVersion: gateway.networking.k8s.io/v1\nmetadata: {name: x}\n');
    assert.match(line, /^1 error kind: `kind` is required: one of BackendTLSPolicy, GRPCRoute, /);
  });

  test('has the group of the API', () => {
    const [line = ''] = lines(
      'apiVersion: gateway.internal/v2\nkind: HTTPRoute\nmetadata: {name: x}\n',
    );
    assert.match(line, /is not read for HTTPRoute. Write `gateway.networking.k8s.io\/v1`$/);
  });

  test('has no namespace where the kind has none', () => {
    const spec = { controllerName: 'a.example/b' };
    const parsed = parseText(documentOf('GatewayClass', spec));
    assert.deepEqual(
      parsed.resources.map(({ id }) => id),
      ['GatewayClass//x'],
    );
  });

  test('gives the facts that count, and a change of them is a change', () => {
    const head = 'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: {}\n';
    const at = (facts: string) => parseText(`${head}metadata: {name: x, ${facts}}\n`).resources[0];
    const facts = 'generation: 3, creationTimestamp: "2026-01-01T00:00:00Z", labels: {a: b}';
    const route = at(`${facts}, annotations: {c: d}, resourceVersion: "9"`);
    assert.deepEqual(route?.metadata, {
      generation: 3,
      created: '2026-01-01T00:00:00Z',
      labels: { a: 'b' },
    });
    assert.equal(route.hash, at(facts)?.hash);
    assert.notEqual(route.hash, at(facts.replace('3', '4'))?.hash);
    assert.equal(at('generation: x, labels: 5')?.metadata, undefined);
  });
});
