import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { issueRoot } from '#certificates/authority/root.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { GatewayApi } from './served-gateway.ts';
import { servedGateways } from './served-gateways.ts';
import { CLASS, configMap, gateway, object, service, trustBundle } from './testing/documents.ts';
import { clusterOf, OPTIONS, served } from './testing/served.ts';
import { statusLines } from './testing/told.ts';

const CLUSTER =
  CLASS +
  gateway(
    'g',
    'listeners: [{name: http, port: 80, protocol: HTTP}, {name: tcp, port: 81, protocol: TCP}, {name: udp, port: 82, protocol: UDP}]',
  ) +
  service(
    's',
    '{port: 80}, {port: 81, name: h2c, appProtocol: kubernetes.io/h2c}, {port: 82, appProtocol: kubernetes.io/ws}, {port: 83, appProtocol: kubernetes.io/wss}, {port: 84, appProtocol: odd}, {port: 85, appProtocol: https}, {port: 53, protocol: UDP}',
  ) +
  service('away', '{port: 80}', 'other');

const route = (backend: string, kind = 'HTTPRoute', more = '') =>
  object(kind, 'r', `parentRefs: [{name: g}], rules: [{backendRefs: [${backend}]${more}}]`);

const asking = (service: string) =>
  `, filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {}, backendRef: {${service}}}}]`;

const GRANT = (from: string, to: string) =>
  object(
    'ReferenceGrant',
    'grant',
    `from: [{group: gateway.networking.k8s.io, ${from}}], to: [{group: "", ${to}}]`,
    { namespace: 'other' },
  );

/** The one rule of the one route. */
function ruleOf({ gateways }: GatewayApi) {
  return gateways[0]?.listeners.flatMap(({ routes }) => routes)[0]?.rules[0];
}

function resolvedOf(api: GatewayApi, kind = 'HTTPRoute'): string {
  return (statusLines(api, `${kind}/infra/r`)[0] ?? '').replace(/.*Accepted /, '');
}

describe('a backend', () => {
  const WELL: readonly [backend: string, kind: string, protocol: string][] = [
    ['{name: s, port: 80}', 'HTTPRoute', 'http'],
    ['{name: s, port: 80}', 'GRPCRoute', 'h2c'],
    ['{name: s, port: 81}', 'HTTPRoute', 'h2c'],
    ['{name: s, port: 82}', 'HTTPRoute', 'ws'],
    ['{name: s, port: 84}', 'HTTPRoute', 'http'],
    ['{name: s, port: 81}', 'TCPRoute', 'tcp'],
    ['{name: s, port: 85}', 'TCPRoute', 'tcp'],
    ['{name: s, port: 53}', 'UDPRoute', 'udp'],
  ];
  for (const [backend, kind, protocol] of WELL) {
    test(`${backend} of a ${kind} speaks ${protocol}`, () => {
      const api = served(CLUSTER + route(backend, kind));
      assert.equal(ruleOf(api)?.backends[0]?.target?.protocol, protocol);
      assert.equal(resolvedOf(api, kind), 'ResolvedRefs');
    });
  }

  const WRONG: readonly [backend: string, kind: string, reason: string][] = [
    ['{name: x, port: 80}', 'HTTPRoute', 'BackendNotFound'],
    ['{name: s, port: 99}', 'HTTPRoute', 'BackendNotFound'],
    ['{name: s, port: 53}', 'HTTPRoute', 'UnsupportedProtocol'],
    ['{name: s, port: 80}', 'UDPRoute', 'UnsupportedProtocol'],
    ['{name: s, port: 83}', 'HTTPRoute', 'UnsupportedProtocol'],
    ['{name: s, port: 85}', 'HTTPRoute', 'UnsupportedProtocol'],
    ['{name: s, port: 85}', 'GRPCRoute', 'UnsupportedProtocol'],
    ['{name: s, port: 82}', 'GRPCRoute', 'UnsupportedProtocol'],
    ['{name: s, port: 83}', 'GRPCRoute', 'UnsupportedProtocol'],
    ['{name: s, kind: Odd}', 'HTTPRoute', 'InvalidKind'],
    ['{name: s, group: x.org, port: 80}', 'TCPRoute', 'InvalidKind'],
    ['{name: away, namespace: other, port: 80}', 'HTTPRoute', 'RefNotPermitted'],
    ['{name: x, namespace: other, port: 80}', 'HTTPRoute', 'RefNotPermitted'],
  ];
  for (const [backend, kind, reason] of WRONG) {
    test(`${backend} of a ${kind} is not resolved: ${reason}`, () => {
      const api = served(
        CLUSTER + route(`${backend}, {name: s, port: ${kind === 'UDPRoute' ? 53 : 81}}`, kind),
      );
      assert.deepEqual(
        ruleOf(api)?.backends.map(({ target }) => target !== undefined),
        [false, true],
      );
      assert.equal(resolvedOf(api, kind), `ResolvedRefs=False:${reason}`);
      assert.deepEqual(
        api.problems.map(({ field }) => field),
        ['spec.rules[0].backendRefs[0]'],
      );
    });
  }

  const GRANTS: readonly [from: string, to: string, permitted: boolean][] = [
    ['kind: HTTPRoute, namespace: infra', 'kind: Service', true],
    ['kind: HTTPRoute, namespace: infra', 'kind: Service, name: away', true],
    ['kind: HTTPRoute, namespace: infra', 'kind: Service, name: s', false],
    ['kind: HTTPRoute, namespace: infra', 'kind: Secret', false],
    ['kind: HTTPRoute, namespace: other', 'kind: Service', false],
    ['kind: GRPCRoute, namespace: infra', 'kind: Service', false],
  ];
  for (const [from, to, permitted] of GRANTS) {
    test(`of another namespace is ${permitted ? 'used' : 'not used'} with a grant from ${from} to ${to}`, () => {
      const api = served(
        CLUSTER + route('{name: away, namespace: other, port: 80}') + GRANT(from, to),
      );
      assert.equal(ruleOf(api)?.backends[0]?.target?.namespace, permitted ? 'other' : undefined);
    });
  }

  test('that no one can know of, as outside a cluster, is taken to exist', () => {
    const resources = clusterOf(CLUSTER + route('{name: x, port: 7}, {name: s, port: 99}'), false);
    const api = servedGateways(resources, OPTIONS, new Memo());
    assert.deepEqual(
      ruleOf(api)?.backends.map(({ target }) => target?.port),
      [7, undefined],
      'a Service that is written has the ports that it says',
    );
  });
});

describe('a rule', () => {
  const BROKEN: readonly (readonly [
    what: string,
    backends: string,
    more: string,
    resolved: string,
  ])[] = [
    ['without backends', '', '', 'ResolvedRefs'],
    ['whose backends have no weight', '{name: s, port: 80, weight: 0}', '', 'ResolvedRefs'],
    [
      'with a Filter that does not exist',
      '{name: s, port: 80}',
      ', filters: [{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: x}}]',
      'ResolvedRefs=False:BackendNotFound',
    ],
    [
      'with a filter of another kind',
      '{name: s, port: 80}',
      ', filters: [{type: ExtensionRef, extensionRef: {group: x.org, kind: Odd, name: x}}]',
      'ResolvedRefs=False:InvalidKind',
    ],
    ...(
      [
        ['name: x, port: 80', 'BackendNotFound'],
        ['name: s, port: 99', 'BackendNotFound'],
        ['name: s, kind: Odd', 'InvalidKind'],
        ['name: away, namespace: other, port: 80', 'RefNotPermitted'],
      ] as const
    ).map(
      ([service, reason]) =>
        [
          `that asks {${service}}`,
          '{name: s, port: 80}',
          asking(service),
          `ResolvedRefs=False:${reason}`,
        ] as const,
    ),
  ];
  for (const [what, backends, more, resolved] of BROKEN) {
    test(`${what} answers 500`, () => {
      const api = served(CLUSTER + route(backends, 'HTTPRoute', more));
      assert.notEqual(ruleOf(api)?.broken, undefined);
      assert.equal(resolvedOf(api), resolved);
    });
  }

  test('that asks a service elsewhere is served with a grant for its kind', () => {
    const more = asking('name: away, namespace: other, port: 80');
    const grant = GRANT('kind: HTTPRoute, namespace: infra', 'kind: Service');
    const api = served(CLUSTER + route('{name: s, port: 80}', 'HTTPRoute', more) + grant);
    assert.deepEqual([ruleOf(api)?.broken, resolvedOf(api)], [undefined, 'ResolvedRefs']);
    assert.equal(ruleOf(api)?.externals[0]?.target.namespace, 'other');
  });

  const UNSERVED: readonly (readonly [what: string, backends: string, more: string])[] = [
    [
      'that sets the header Host',
      '',
      ', filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Host, value: a}]}}]',
    ],
    [
      'that removes the header host',
      '',
      ', filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [host]}}]',
    ],
    ...[
      'requestHeaderModifier: {set: [{name: Content-Length, value: "3"}]}',
      'requestHeaderModifier: {add: [{name: transfer-encoding, value: chunked}]}',
      'requestHeaderModifier: {set: [{name: content_length, value: "3"}]}',
      'requestHeaderModifier: {remove: [Connection]}',
      'responseHeaderModifier: {set: [{name: content-length, value: "3"}]}',
      'responseHeaderModifier: {set: [{name: X-Gateway-Retriable, value: a}]}',
    ].map(change => {
      const type = change.startsWith('request')
        ? 'RequestHeaderModifier'
        : 'ResponseHeaderModifier';
      return [`with ${change}`, '', `, filters: [{type: ${type}, ${change}}]`] as const;
    }),
    [
      'whose sessions are told by what frames a message',
      '',
      ', sessionPersistence: {type: Header, header: {name: Content-Length}}',
    ],
    [
      'that keeps sessions of several backends',
      ', {name: s, port: 81}',
      ', sessionPersistence: {cookie: {}}',
    ],
    [
      'whose sessions by header end',
      '',
      ', sessionPersistence: {type: Header, header: {name: x}, absoluteTimeout: 1h}',
    ],
  ];
  for (const [what, backends, more] of UNSERVED) {
    test(`${what} answers 500, and the route is not accepted`, () => {
      const api = served(CLUSTER + route(`{name: s, port: 80}${backends}`, 'HTTPRoute', more));
      assert.notEqual(ruleOf(api)?.broken, undefined);
      const [line] = statusLines(api, 'HTTPRoute/infra/r');
      assert.equal(line, 'Gateway g: Accepted=False:UnsupportedValue ResolvedRefs');
    });
  }

  test('with a backend whose filters change a length answers 500', () => {
    const filters =
      'filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Content-Length, value: "3"}]}}]';
    for (const kind of ['HTTPRoute', 'GRPCRoute']) {
      const api = served(CLUSTER + route(`{name: s, port: 80, ${filters}}`, kind));
      assert.match(ruleOf(api)?.broken ?? '', /content-length/);
    }
  });

  for (const [kind, backend, why] of [
    ['HTTPRoute', '', 'its requests are answered 500: it has no backends'],
    [
      'GRPCRoute',
      's, port: 80, weight: 0',
      'its requests are answered 500: no backend has a weight',
    ],
    ['TCPRoute', 's, port: 80, weight: 0', 'its connections are closed: no backend has a weight'],
  ] as const)
    test(`of a ${kind} that has nowhere to send to is told: ${why}`, () => {
      const api = served(CLUSTER + route(backend && `{name: ${backend}}`, kind));
      const [{ field, message, severity } = {}, ...others] = api.problems;
      const told = { field: 'spec.rules[0].backendRefs', message: why, severity: 'warning' };
      assert.deepEqual([{ field, message, severity }, others], [told, []]);
      assert.match(statusLines(api, `${kind}/infra/r`)[0] ?? '', /Accepted ResolvedRefs$/);
    });

  test('that redirects needs no backends', () => {
    const api = served(
      CLUSTER +
        route(
          '',
          'HTTPRoute',
          ', filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]',
        ),
    );
    assert.equal(ruleOf(api)?.broken, undefined);
  });

  test('has our Filters of its namespace', () => {
    const filter = object('Filter', 'f', 'JWT: {jwksURI: "https://x.org/k"}')
      .replace('gateway.networking.k8s.io/v1', 'gateway.internal/v2')
      .replace(', generation: 2', '');
    const api = served(
      CLUSTER +
        filter +
        route(
          '{name: s, port: 80}',
          'HTTPRoute',
          ', filters: [{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: f}}]',
        ),
    );
    assert.deepEqual(
      [ruleOf(api)?.filters.map(({ id }) => id), ruleOf(api)?.broken],
      [['Filter/infra/f'], undefined],
    );
  });

  test('without a mirror that is not resolved is served', () => {
    const mirror = (name: string) =>
      `{type: RequestMirror, requestMirror: {backendRef: {name: ${name}, port: 80}}}`;
    const api = served(
      CLUSTER +
        route('{name: s, port: 80}', 'HTTPRoute', `, filters: [${mirror('x')}, ${mirror('s')}]`),
    );
    assert.deepEqual(
      [[...(ruleOf(api)?.mirrors.keys() ?? [])], ruleOf(api)?.broken],
      [[1], undefined],
    );
    assert.equal(resolvedOf(api), 'ResolvedRefs=False:BackendNotFound');
  });
});

const bundleRef = (name: string) =>
  `{group: certificates.k8s.io, kind: ClusterTrustBundle, name: ${name}}`;

describe('a BackendTLSPolicy', () => {
  let ca = '';
  before(async () => {
    ca = (await issueRoot({ now: Date.now(), lifetimeMs: 3_600_000 })).certificate;
  });

  const policy = (
    name: string,
    more: { readonly at?: string; readonly ca?: string; readonly created?: number } = {},
  ) => {
    const { at = 'name: s', ca: refs = '{group: "", kind: ConfigMap, name: ca}', created } = more;
    return object(
      'BackendTLSPolicy',
      name,
      `targetRefs: [{group: "", kind: Service, ${at}}], validation: {hostname: ${name}.test, caCertificateRefs: [${refs}]}`,
      created === undefined ? {} : { created },
    );
  };
  const api = (policies: string, backend = '{name: s, port: 80}', kind = 'HTTPRoute') =>
    served(
      CLUSTER +
        configMap('ca', ca) +
        trustBundle('all', ca) +
        trustBundle('broken', 'x') +
        trustBundle('list', `${ca}-----BEGIN X509 CRL-----\nMIAAAAAA\n-----END X509 CRL-----\n`) +
        configMap('empty', '').replace('{"ca.crt":""}', '{}') +
        policies +
        route(backend, kind),
    );
  const tlsOf = (all: GatewayApi) => {
    const tls = ruleOf(all)?.backends[0]?.target?.tls;
    return tls === undefined || tls === 'closed' ? tls : tls.policy;
  };

  test('is in force for the backends of its Service', () => {
    const all = api(policy('p'));
    const target = ruleOf(all)?.backends[0]?.target;
    assert.deepEqual([target?.protocol, tlsOf(all)], ['https', 'BackendTLSPolicy/infra/p']);
    assert.deepEqual(statusLines(all, 'BackendTLSPolicy/infra/p'), ['g: Accepted ResolvedRefs']);
  });

  test('is not for a TCPRoute, and has no ancestor without a route', () => {
    assert.equal(tlsOf(api(policy('p'), '{name: s, port: 80}', 'TCPRoute')), undefined);
    assert.deepEqual(
      statusLines(api(policy('p', { at: 'name: away' })), 'BackendTLSPolicy/infra/p'),
      [],
    );
  });

  test('lets a wss backend be reached', () => {
    assert.equal(
      ruleOf(api(policy('p'), '{name: s, port: 83}'))?.backends[0]?.target?.protocol,
      'wss',
    );
  });

  test('makes no WebSockets a backend of calls', () => {
    const all = api(policy('p'), '{name: s, port: 83}', 'GRPCRoute');
    assert.equal(ruleOf(all)?.backends[0]?.target, undefined);
    assert.equal(resolvedOf(all, 'GRPCRoute'), 'ResolvedRefs=False:UnsupportedProtocol');
    assert.match(all.problems[0]?.message ?? '', /kubernetes\.io\/wss, which carries no gRPC$/);
  });

  test('trusts a bundle of the whole cluster', () => {
    const all = api(policy('p', { ca: bundleRef('all') }));
    const tls = ruleOf(all)?.backends[0]?.target?.tls;
    assert.ok(tls !== undefined && tls !== 'closed' && tls.authorities !== 'System');
    assert.deepEqual(
      tls.authorities.map(({ kind, namespace, name, pem }) => [kind, namespace, name, pem]),
      [['ClusterTrustBundle', '', 'all', ca]],
    );
    assert.deepEqual(statusLines(all, 'BackendTLSPolicy/infra/p'), ['g: Accepted ResolvedRefs']);
  });

  test('yields to an older one, and for a port to the one of the port', () => {
    const all = api(
      policy('a', { created: 2 }) +
        policy('b', { created: 1 }) +
        policy('c', { created: 3, at: 'name: s, sectionName: h2c' }),
      '{name: s, port: 81}',
    );
    assert.equal(tlsOf(all), 'BackendTLSPolicy/infra/c');
    assert.deepEqual(
      ['a', 'b', 'c'].map(name => statusLines(all, `BackendTLSPolicy/infra/${name}`)[0]),
      [
        'g: Accepted=False:Conflicted ResolvedRefs',
        'g: Accepted ResolvedRefs',
        'g: Accepted ResolvedRefs',
      ],
    );
  });

  test('yields to the first by name of those that are as old', () => {
    const all = api(policy('b') + policy('a'));
    assert.equal(tlsOf(all), 'BackendTLSPolicy/infra/a');
  });

  const INVALID: readonly [what: string, ca: string, reason: string][] = [
    ['that does not exist', '{group: "", kind: ConfigMap, name: x}', 'InvalidCACertificateRef'],
    ['that holds nothing', '{group: "", kind: ConfigMap, name: empty}', 'InvalidCACertificateRef'],
    ['of a bundle that does not exist', bundleRef('x'), 'InvalidCACertificateRef'],
    ['of a bundle without certificates', bundleRef('broken'), 'InvalidCACertificateRef'],
    ['of a bundle with a malformed revocation list', bundleRef('list'), 'InvalidCACertificateRef'],
    ['of another kind', '{group: x.org, kind: Odd, name: ca}', 'InvalidKind'],
  ];
  for (const [what, refs, reason] of INVALID) {
    test(`with an authority ${what} closes its backends`, () => {
      const all = api(policy('p', { ca: refs }));
      assert.equal(tlsOf(all), 'closed');
      assert.deepEqual(statusLines(all, 'BackendTLSPolicy/infra/p'), [
        `g: Accepted=False:NoValidCACertificate ResolvedRefs=False:${reason}`,
      ]);
    });
  }

  test('for a port that does not exist is for nothing', () => {
    const all = api(policy('p', { at: 'name: s, sectionName: x' }));
    assert.deepEqual(
      [tlsOf(all), statusLines(all, 'BackendTLSPolicy/infra/p')],
      [undefined, ['g: Accepted=False:TargetNotFound ResolvedRefs']],
    );
  });

  test('for a port without TCP is for nothing, and tells where it leaves one out', () => {
    const dns = service('dns', '{port: 53, name: udp, protocol: UDP}, {port: 53, name: tcp}');
    const acceptedOf = (at: string) => {
      const all = api(policy('p', { at }) + dns, '{name: dns, port: 53}', 'UDPRoute');
      const status = all.statuses.get('BackendTLSPolicy/infra/p');
      assert.equal(status?.kind, 'Policy');
      const [{ message, reason } = { message: '', reason: '' }] =
        status.ancestors[0]?.conditions ?? [];
      return `${reason}: ${message}`;
    };
    assert.match(acceptedOf('name: dns, sectionName: udp'), /^Invalid: .* no port .* with TCP/);
    assert.match(acceptedOf('name: dns'), /^Accepted: .* for the ports with TCP$/);
    assert.match(acceptedOf('name: dns, sectionName: tcp'), /^Accepted: The policy is in force$/);
  });

  describe('for a Service that no document of a folder describes', () => {
    const folder = (at: string) => {
      const text = policy('p', { at }) + route('{name: undescribed, port: 443}');
      const resources = clusterOf(CLUSTER + configMap('ca', ca) + text, false);
      return servedGateways(resources, OPTIONS, new Memo());
    };

    test('is in force', () => {
      assert.equal(tlsOf(folder('name: undescribed')), 'BackendTLSPolicy/infra/p');
    });

    test('closes it where it names a port, which may be any', () => {
      const all = folder('name: undescribed, sectionName: https');
      assert.equal(tlsOf(all), 'closed');
      assert.match(
        all.problems.map(({ message }) => message).join(),
        /^no document describes the Service undescribed\. /,
      );
    });
  });

  describe('that is rejected', () => {
    const bad = (fields: string) => {
      const text = object('BackendTLSPolicy', 'bad', `${fields}, validation: {hostname: X y}`);
      const { rejected } = parseFile('in.yaml', text, DEFAULT_PARSE_OPTIONS);
      assert.equal(rejected.length, 1);
      return rejected;
    };
    const beside = (fields: string, policies = '', backend = '{name: s, port: 81}') => {
      const all = clusterOf(CLUSTER + configMap('ca', ca) + policies + route(backend));
      return servedGateways({ ...all, closed: bad(fields) }, OPTIONS, new Memo());
    };
    const NAMED = 'targetRefs: [{group: "", kind: Service, name: s}]';

    test('closes the backends of its Service, and says so', () => {
      const all = beside(NAMED);
      assert.deepEqual(
        [tlsOf(all), statusLines(all, 'BackendTLSPolicy/infra/bad')],
        ['closed', ['g: Accepted=False:Invalid']],
      );
    });

    test('closes no other Service, and no other port', () => {
      assert.equal(tlsOf(beside(NAMED.replace('name: s', 'name: x'))), undefined);
      assert.equal(tlsOf(beside(NAMED.replace('name: s', 'name: s, sectionName: x'))), undefined);
      assert.equal(tlsOf(beside(NAMED.replace('name: s', 'name: s, sectionName: h2c'))), 'closed');
    });

    test('closes every Service of its namespace when it cannot be read for which it is', () => {
      assert.equal(tlsOf(beside('targetRefs: [{group: "", kind: Service}]')), 'closed');
      assert.equal(tlsOf(beside('targets: []')), 'closed');
    });

    test('goes before another for the same target, and not before one for a port', () => {
      const all = beside(NAMED, policy('p') + policy('q', { at: 'name: s, sectionName: h2c' }));
      assert.deepEqual(
        [tlsOf(all), statusLines(all, 'BackendTLSPolicy/infra/p')],
        ['BackendTLSPolicy/infra/q', ['g: Accepted=False:Conflicted ResolvedRefs']],
      );
      assert.match(
        all.problems.map(({ message }) => message).join(),
        /the BackendTLSPolicy bad, which is rejected, has precedence/,
      );
    });
  });
});
