import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { issueRoot } from '#certificates/authority/root.ts';
import {
  CLASS,
  configMap,
  gateway,
  namespace,
  object,
  tlsSecret,
  trustBundle,
} from './testing/documents.ts';
import { served } from './testing/served.ts';
import { statusLines } from './testing/told.ts';

/** The lines of the listeners of a Gateway, without what every line has. */
function listenersOf(text: string, id = 'Gateway/infra/g'): readonly string[] {
  return statusLines(served(CLASS + text), id)
    .slice(1)
    .map(line => line.replace(' 0 [HTTPRoute,GRPCRoute]', ' http'));
}

const WELL = 'Accepted ResolvedRefs Conflicted=False';

describe('the listeners of a Gateway', () => {
  const CASES: readonly [what: string, listeners: string, lines: readonly string[]][] = [
    ['are valid', '{name: a, port: 80, protocol: HTTP}', [`a http ${WELL}`]],
    [
      'need a protocol that is served',
      '{name: a, port: 80, protocol: SCTP}, {name: b, port: 80, protocol: HTTP}',
      [
        'a 0 [] Accepted=False:UnsupportedProtocol ResolvedRefs Conflicted=False Programmed=False:Invalid',
        `b http ${WELL}`,
      ],
    ],
    [
      'need a port that the proxies do not use',
      '{name: a, port: 9901, protocol: HTTP}',
      [
        'a http Accepted=False:PortUnavailable ResolvedRefs Conflicted=False Programmed=False:Invalid',
      ],
    ],
    [
      'serve only the kinds that they name',
      '{name: a, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute}, {kind: Odd}]}}',
      ['a 0 [HTTPRoute] Accepted ResolvedRefs=False:InvalidRouteKinds Conflicted=False'],
    ],
    [
      'are not served without a kind',
      '{name: a, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute, group: x.org}]}}',
      [
        'a 0 [] Accepted ResolvedRefs=False:InvalidRouteKinds Conflicted=False Programmed=False:Invalid',
      ],
    ],
    [
      'may not share a port over protocols',
      '{name: a, port: 80, protocol: HTTP}, {name: b, port: 80, protocol: TCP}, {name: c, port: 81, protocol: TCP}',
      [
        'a http Accepted=False:ProtocolConflict ResolvedRefs Conflicted:ProtocolConflict Programmed=False:ProtocolConflict',
        'b 0 [TCPRoute] Accepted=False:ProtocolConflict ResolvedRefs Conflicted:ProtocolConflict Programmed=False:ProtocolConflict',
        `c 0 [TCPRoute] ${WELL}`,
      ],
    ],
    [
      'may share the number of a port over TCP and UDP',
      '{name: a, port: 53, protocol: TCP}, {name: b, port: 53, protocol: UDP}',
      [`a 0 [TCPRoute] ${WELL}`, `b 0 [UDPRoute] ${WELL}`],
    ],
    [
      'overlap when names of their TLS do',
      `{name: a, port: 443, protocol: TLS, hostname: "*.b.test", tls: {mode: Passthrough}},
       {name: b, port: 443, protocol: TLS, hostname: x.b.test, tls: {mode: Passthrough}},
       {name: c, port: 443, protocol: TLS, hostname: x.c.test, tls: {mode: Passthrough}}`,
      [
        `a 0 [TLSRoute] ${WELL} OverlappingTLSConfig:OverlappingHostnames`,
        `b 0 [TLSRoute] ${WELL} OverlappingTLSConfig:OverlappingHostnames`,
        `c 0 [TLSRoute] ${WELL}`,
      ],
    ],
  ];

  for (const [what, listeners, lines] of CASES) {
    test(what, () => {
      assert.deepEqual(listenersOf(gateway('g', `listeners: [${listeners}]`)), lines);
    });
  }

  test('tell which kinds they serve where they name another', () => {
    const asking = (protocol: string) =>
      `{name: a, port: 80, protocol: ${protocol}, allowedRoutes: {kinds: [{kind: TCPRoute}]}}`;
    const told = [asking('TLS, tls: {mode: Passthrough}'), asking('HTTP'), asking('SCTP')].map(
      listener =>
        served(CLASS + gateway('g', `listeners: [${listener}]`)).problems.find(({ field }) =>
          field?.endsWith('kinds[0]'),
        )?.message,
    );
    const why = 'does not serve TCPRoute of gateway.networking.k8s.io';
    assert.deepEqual(told, [
      `a listener for TLS ${why}. Name TLSRoute`,
      `a listener for HTTP ${why}. Name HTTPRoute or GRPCRoute`,
      `a listener for SCTP ${why}`,
    ]);
  });

  test('decide whether it is accepted, which one valid listener suffices for', () => {
    const [odd, well] = [
      '{name: a, port: 80, protocol: SCTP}',
      '{name: b, port: 80, protocol: HTTP}',
    ];
    const gateways = [odd, `${odd}, ${well}`, well].map(
      listeners =>
        statusLines(
          served(CLASS + gateway('g', `listeners: [${listeners}]`)),
          'Gateway/infra/g',
        )[0],
    );
    assert.deepEqual(gateways, [
      'Accepted=False:ListenersNotValid ResolvedRefs Programmed=False:Invalid',
      'Accepted:ListenersNotValid ResolvedRefs',
      'Accepted ResolvedRefs',
    ]);
  });
});

describe('a Gateway', () => {
  const HTTP = 'listeners: [{name: a, port: 80, protocol: HTTP}]';
  const REJECTED: readonly [what: string, fields: string, reason: string][] = [
    [
      'with an address of an unknown type',
      'addresses: [{type: example.com/x, value: y}]',
      'UnsupportedAddress',
    ],
    [
      'with settings of another kind',
      'infrastructure: {parametersRef: {group: x.io, kind: X, name: x}}',
      'InvalidParameters',
    ],
    [
      'with settings that do not exist',
      'infrastructure: {parametersRef: {group: gateway.internal, kind: ProxyConfig, name: x}}',
      'InvalidParameters',
    ],
  ];
  for (const [what, fields, reason] of REJECTED) {
    test(`${what} is not accepted, and the proxies that it has serve it`, () => {
      const api = served(CLASS + gateway('g', `${HTTP}, ${fields}`));
      assert.deepEqual(statusLines(api, 'Gateway/infra/g'), [
        `Accepted=False:${reason} ResolvedRefs Programmed=False:Invalid`,
        `a 0 [HTTPRoute,GRPCRoute] ${WELL}`,
      ]);
      assert.equal(api.gateways[0]?.listeners.length, 1);
    });
  }

  test('of a class that is not accepted is not either, and the proxies that it has serve it', () => {
    const missing = 'parametersRef: {group: gateway.internal, kind: ProxyConfig, name: x}, ';
    const api = served(
      CLASS.replace('controllerName', `${missing}controllerName`) + gateway('g', HTTP),
    );
    const [line] = statusLines(api, 'Gateway/infra/g');
    assert.equal(line, 'Accepted=False:InvalidParameters ResolvedRefs Programmed=False:Invalid');
    assert.equal(api.gateways[0]?.listeners.length, 1);
  });

  test('is not served by an edge that it shares where it asks for an address that this has not', () => {
    const text = CLASS + gateway('g', `${HTTP}, addresses: [{routability: Cluster}]`);
    const api = served(text, { sharedEdge: true });
    assert.deepEqual(statusLines(api, 'Gateway/infra/g'), [
      'Accepted=False:UnsupportedAddress ResolvedRefs Programmed=False:Invalid',
    ]);
    assert.deepEqual(api.gateways[0]?.listeners, []);
  });

  test('whose class does not exist gets no status, and a Problem', () => {
    const api = served(CLASS + gateway('g', HTTP).replace('ours', 'others'));
    assert.deepEqual([...api.statuses.keys()], ['GatewayClass//ours']);
    assert.deepEqual(
      api.problems.map(({ message }) => message),
      ['there is no GatewayClass others, so it is not served'],
    );
  });

  test('has a group of its own, or shares the edge with others, where the older has precedence', () => {
    const text =
      CLASS +
      gateway('young', HTTP, { namespace: 'a', created: 2 }) +
      gateway('old', HTTP, { namespace: 'b', created: 1 });
    const groups = served(text).gateways.map(({ group }) => group.slice(0, -17));
    assert.deepEqual(groups, ['a-young', 'b-old']);
    const shared = served(text, { sharedEdge: true });
    assert.deepEqual(
      shared.gateways.map(({ group, listeners }) => [group, listeners.length]),
      [
        ['edge', 0],
        ['edge', 1],
      ],
    );
    assert.match(
      statusLines(shared, 'Gateway/a/young')[1] ?? '',
      /^a 0 .* Conflicted:HostnameConflict/,
    );
  });
});

describe('a ListenerSet', () => {
  const set = (name: string, listeners: string, meta = {}) =>
    object(
      'ListenerSet',
      name,
      `parentRef: {name: g, namespace: infra}, listeners: [${listeners}]`,
      meta,
    );
  const parent = (from: string, listeners = '{name: a, port: 80, protocol: HTTP}') =>
    gateway('g', `listeners: [${listeners}], allowedListeners: {namespaces: {from: ${from}}}`);
  const B = '{name: b, port: 81, protocol: HTTP}';

  const ALLOWED: readonly [from: string, home: string, allowed: boolean][] = [
    ['None', 'infra', false],
    ['Same', 'infra', true],
    ['Same', 'other', false],
    ['All', 'other', true],
    ['Selector, selector: {matchLabels: {team: a}}', 'a', true],
    ['Selector, selector: {matchLabels: {team: a}}', 'other', false],
  ];
  for (const [from, home, allowed] of ALLOWED) {
    test(`of the namespace ${home} is ${allowed ? 'served' : 'rejected'} when the Gateway allows ${from}`, () => {
      const api = served(
        CLASS + parent(from) + namespace('a', 'team: a') + set('s', B, { namespace: home }),
      );
      assert.equal(
        statusLines(api, `ListenerSet/${home}/s`)[0],
        allowed ? 'Accepted' : 'Accepted=False:NotAllowed Programmed=False:NotAllowed',
      );
      assert.equal(api.gateways[0]?.listeners.length, allowed ? 2 : 1);
      const status = api.statuses.get('Gateway/infra/g');
      assert.equal(status?.kind === 'Gateway' && status.attachedListenerSets, Number(allowed));
    });
  }

  test('yields to the Gateway and to older ones, and is served with what is left', () => {
    const a = '{name: a, port: 80, protocol: HTTP}';
    const tcp = '{name: tcp, port: 81, protocol: TCP}';
    const api = served(
      CLASS +
        parent('Same') +
        set('older', `${a}, ${B}`, { created: 1 }) +
        set('younger', `${tcp}, {name: c, port: 81, protocol: HTTP, hostname: c.test}`, {
          created: 2,
        }) +
        set('useless', tcp, { created: 3 }),
    );
    const lines = ['older', 'younger', 'useless'].map(name =>
      statusLines(api, `ListenerSet/infra/${name}`).map(line =>
        line.replace(/ResolvedRefs .*/, ''),
      ),
    );
    assert.deepEqual(lines, [
      [
        'Accepted:ListenersNotValid',
        'a 0 [HTTPRoute,GRPCRoute] Accepted=False:HostnameConflict ',
        'b 0 [HTTPRoute,GRPCRoute] Accepted ',
      ],
      [
        'Accepted:ListenersNotValid',
        'tcp 0 [TCPRoute] Accepted=False:ProtocolConflict ',
        'c 0 [HTTPRoute,GRPCRoute] Accepted ',
      ],
      [
        'Accepted=False:ListenersNotValid Programmed=False:ListenersNotValid',
        'tcp 0 [TCPRoute] Accepted=False:ProtocolConflict ',
      ],
    ]);
    assert.deepEqual(
      api.gateways[0]?.listeners.map(({ id }) => id),
      ['Gateway/infra/g/a', 'ListenerSet/infra/older/b', 'ListenerSet/infra/younger/c'],
    );
  });

  test('of a Gateway that is not accepted is not either, and the proxies that this has serve it', () => {
    const odd = gateway(
      'g',
      'listeners: [{name: a, port: 80, protocol: HTTP}], allowedListeners: {namespaces: {from: All}}, addresses: [{type: Hostname, value: x.org}]',
    );
    const api = served(
      CLASS +
        odd +
        set('s', B) +
        object('HTTPRoute', 'r', 'parentRefs: [{kind: ListenerSet, name: s}]'),
    );
    assert.deepEqual(
      [statusLines(api, 'ListenerSet/infra/s'), statusLines(api, 'HTTPRoute/infra/r')],
      [
        [
          'Accepted=False:ParentNotAccepted Programmed=False:ParentNotProgrammed',
          `b 1 [HTTPRoute,GRPCRoute] ${WELL}`,
        ],
        ['ListenerSet s: Accepted ResolvedRefs'],
      ],
    );
    assert.equal(api.gateways[0]?.listeners.length, 2);
  });

  test('has routes of its own, which the Gateway has none of', () => {
    const api = served(
      CLASS +
        parent('Same') +
        set('s', B) +
        object('HTTPRoute', 'own', 'parentRefs: [{kind: ListenerSet, name: s}]') +
        object('HTTPRoute', 'wrong', 'parentRefs: [{name: g, sectionName: b}]'),
    );
    assert.deepEqual(
      [...statusLines(api, 'HTTPRoute/infra/own'), ...statusLines(api, 'HTTPRoute/infra/wrong')],
      [
        'ListenerSet s: Accepted ResolvedRefs',
        'Gateway g: Accepted=False:NoMatchingParent ResolvedRefs',
      ],
    );
  });
});

describe('TLS of a listener', () => {
  let pair = { certificate: '', key: '' };
  let other = { certificate: '', key: '' };
  before(async () => {
    const lifetime = { now: Date.now(), lifetimeMs: 3_600_000 };
    [pair, other] = await Promise.all([issueRoot(lifetime), issueRoot(lifetime)]);
  });

  const https = (refs: string, tls = '') =>
    gateway(
      'g',
      `listeners: [{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [${refs}]}}]${tls}`,
    );
  const grant = (fields: string) =>
    object('ReferenceGrant', 'grant', fields, { namespace: 'secrets' });
  const FROM = 'from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}]';
  const AWAY = '{name: c, namespace: secrets}';

  const CERTIFICATES: readonly [what: string, refs: string, grants: string, resolved: string][] = [
    ['its certificate', '{name: c}', '', 'ResolvedRefs'],
    ['a Secret that exists', '{name: x}', '', 'ResolvedRefs=False:InvalidCertificateRef'],
    [
      'a Secret with a fitting key',
      '{name: mixed}',
      '',
      'ResolvedRefs=False:InvalidCertificateRef',
    ],
    [
      'a Secret and no other kind',
      '{name: c, kind: Odd}',
      '',
      'ResolvedRefs=False:InvalidCertificateRef',
    ],
    [
      'a Secret and no other group',
      '{name: c, group: x.org}',
      '',
      'ResolvedRefs=False:InvalidCertificateRef',
    ],
    ['a grant in another namespace', AWAY, '', 'ResolvedRefs=False:RefNotPermitted'],
    [
      'a grant first, also for a Secret that does not exist',
      '{name: x, namespace: secrets}',
      '',
      'ResolvedRefs=False:RefNotPermitted',
    ],
    ['a grant for all Secrets', AWAY, `${FROM}, to: [{group: "", kind: Secret}]`, 'ResolvedRefs'],
    [
      'a grant for the Secret',
      AWAY,
      `${FROM}, to: [{group: "", kind: Secret, name: c}]`,
      'ResolvedRefs',
    ],
    [
      'no grant for another Secret',
      AWAY,
      `${FROM}, to: [{group: "", kind: Secret, name: d}]`,
      'ResolvedRefs=False:RefNotPermitted',
    ],
    [
      'no grant for another kind',
      AWAY,
      `${FROM}, to: [{group: "", kind: Service}]`,
      'ResolvedRefs=False:RefNotPermitted',
    ],
    [
      'no grant for another namespace',
      AWAY,
      `${FROM.replace('infra', 'x')}, to: [{group: "", kind: Secret}]`,
      'ResolvedRefs=False:RefNotPermitted',
    ],
    [
      'no grant for another referrer',
      AWAY,
      `${FROM.replace('Gateway', 'HTTPRoute')}, to: [{group: "", kind: Secret}]`,
      'ResolvedRefs=False:RefNotPermitted',
    ],
  ];
  for (const [what, refs, grants, resolved] of CERTIFICATES) {
    test(`needs ${what}`, () => {
      const objects =
        tlsSecret('c', pair) +
        tlsSecret('c', pair, 'secrets') +
        tlsSecret('mixed', { ...pair, key: other.key });
      const text = https(refs) + objects + (grants === '' ? '' : grant(grants));
      const [line] = listenersOf(text);
      const isWell = resolved === 'ResolvedRefs';
      const end = isWell ? '' : ' Programmed=False:Invalid';
      assert.equal(line, `a http Accepted ${resolved} Conflicted=False${end}`);
      assert.equal(served(CLASS + text).gateways[0]?.listeners.length, Number(isWell));
    });
  }

  const bundleRef = (name: string) =>
    `{group: certificates.k8s.io, kind: ClusterTrustBundle, name: ${name}}`;
  const validation = (refs: string, mode = '') =>
    `, tls: {frontend: {default: {validation: {caCertificateRefs: [${refs}]${mode}}}}}`;
  const CLIENTS: readonly [what: string, tls: string, line: string][] = [
    ['are checked', validation('{group: "", kind: ConfigMap, name: ca}'), WELL],
    [
      'are checked by those authorities that are valid',
      validation('{group: "", kind: ConfigMap, name: x}, {group: "", kind: ConfigMap, name: ca}'),
      'Accepted ResolvedRefs=False:InvalidCACertificateRef Conflicted=False',
    ],
    [
      'need an authority that exists',
      validation('{group: "", kind: ConfigMap, name: x}'),
      'Accepted=False:NoValidCACertificate ResolvedRefs=False:InvalidCACertificateRef Conflicted=False Programmed=False:Invalid',
    ],
    [
      'need an authority that can be read',
      validation('{group: "", kind: ConfigMap, name: broken}'),
      'Accepted=False:NoValidCACertificate ResolvedRefs=False:InvalidCACertificateRef Conflicted=False Programmed=False:Invalid',
    ],
    [
      'need an authority of a kind that is served',
      validation('{group: x.org, kind: Odd, name: ca}'),
      'Accepted=False:NoValidCACertificate ResolvedRefs=False:InvalidCACertificateKind Conflicted=False Programmed=False:Invalid',
    ],
    [
      'need a grant for an authority in another namespace',
      validation('{group: "", kind: ConfigMap, name: ca, namespace: secrets}'),
      'Accepted=False:NoValidCACertificate ResolvedRefs=False:RefNotPermitted Conflicted=False Programmed=False:Invalid',
    ],
    ['are checked by a bundle', validation(bundleRef('ca')), WELL],
    ['are checked by a bundle of several', validation(bundleRef('several')), WELL],
    [
      'need a bundle that exists',
      validation(bundleRef('x')),
      'Accepted=False:NoValidCACertificate ResolvedRefs=False:InvalidCACertificateRef Conflicted=False Programmed=False:Invalid',
    ],
    [
      'need a bundle with certificates',
      validation(bundleRef('broken')),
      'Accepted=False:NoValidCACertificate ResolvedRefs=False:InvalidCACertificateRef Conflicted=False Programmed=False:Invalid',
    ],
    [
      'need a bundle of the right group',
      validation('{group: "", kind: ClusterTrustBundle, name: ca}'),
      'Accepted=False:NoValidCACertificate ResolvedRefs=False:InvalidCACertificateKind Conflicted=False Programmed=False:Invalid',
    ],
    [
      'are checked as the port says, in place of the default',
      `, tls: {frontend: {default: {validation: {caCertificateRefs: [{group: "", kind: ConfigMap, name: x}]}}, perPort: [{port: 443, tls: {}}]}}`,
      WELL,
    ],
  ];
  for (const [what, tls, line] of CLIENTS) {
    test(`asks for certificates of clients, which ${what}`, () => {
      const cas =
        configMap('ca', pair.certificate) +
        configMap('broken', 'x') +
        trustBundle('ca', pair.certificate) +
        trustBundle('several', `one\n${pair.certificate}two\n${other.certificate}`) +
        trustBundle('broken', 'x') +
        configMap('ca', pair.certificate, 'secrets');
      assert.deepEqual(listenersOf(https('{name: c}', tls) + tlsSecret('c', pair) + cas), [
        `a http ${line}`,
      ]);
    });
  }

  test('tells that clients without a valid certificate may connect', () => {
    const tls = validation(
      '{group: "", kind: ConfigMap, name: ca}',
      ', mode: AllowInsecureFallback',
    );
    const api = served(
      CLASS + https('{name: c}', tls) + tlsSecret('c', pair) + configMap('ca', pair.certificate),
    );
    assert.equal(
      statusLines(api, 'Gateway/infra/g')[0],
      'Accepted ResolvedRefs InsecureFrontendValidationMode:ConfigurationChanged',
    );
    const [listener] = api.gateways[0]?.listeners ?? [];
    assert.deepEqual(
      [
        listener?.tls?.certificates,
        listener?.tls?.clients?.mode,
        listener?.tls?.clients?.authorities.length,
      ],
      [[{ namespace: 'infra', name: 'c' }], 'AllowInsecureFallback', 1],
    );
  });

  test('to backends shows the certificate of the Gateway, which must be there', () => {
    const http = (ref: string) =>
      gateway(
        'g',
        `listeners: [{name: a, port: 80, protocol: HTTP}], tls: {backend: {clientCertificateRef: {${ref}}}}`,
      );
    const lines = ['name: c', 'name: x', 'name: c, kind: Odd', 'name: c, namespace: secrets'].map(
      ref => {
        const api = served(CLASS + http(ref) + tlsSecret('c', pair));
        return [api.gateways[0]?.clientCertificate?.name, statusLines(api, 'Gateway/infra/g')[0]];
      },
    );
    assert.deepEqual(lines, [
      ['c', 'Accepted ResolvedRefs'],
      [undefined, 'Accepted ResolvedRefs=False:InvalidClientCertificateRef'],
      [undefined, 'Accepted ResolvedRefs=False:InvalidClientCertificateRef'],
      [undefined, 'Accepted ResolvedRefs=False:RefNotPermitted'],
    ]);
  });
});

describe('a Gateway that shares the edge', () => {
  const place = (port: number) => ({ host: '127.0.0.1', port });
  const shared = { sharedEdge: true, edge: place(8080), edgeTls: place(8443) };
  const own = (kind: string, spec: string) =>
    `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: m}\nspec: ${spec}\n`;
  const LISTENERS =
    'listeners: [{name: a, port: 8080, protocol: HTTP}, {name: b, port: 8000, protocol: HTTP}]';
  const ports = (more: string, options: object = shared) =>
    served(CLASS + gateway('g', LISTENERS) + more, options).gateways[0]?.listeners.map(
      ({ port }) => port,
    );
  const MAPPING = own('Mapping', '{prefix: /, service: s}');

  test('cannot have the port of Mappings, and says so in a Problem and in its status', () => {
    assert.deepEqual(ports(MAPPING), [8000]);
    const api = served(CLASS + gateway('g', LISTENERS) + MAPPING, shared);
    const [problem, ...others] = api.problems;
    assert.deepEqual(others, []);
    assert.equal(problem?.field, 'spec.listeners[0].port');
    assert.match(problem.message, /port 8080 is the edge's own.*Name another port/);
    assert.match(
      statusLines(api, 'Gateway/infra/g')[1] ?? '',
      /^a 0 .*Accepted=False:PortUnavailable .*Programmed=False:Invalid/,
    );
  });

  test('has it where the edge serves nothing else, or elsewhere', () => {
    assert.deepEqual(ports(''), [8080, 8000]);
    const moved = own(
      'ProxyConfig',
      '{node_group: edge, listener: {address: 127.0.0.1, port: 8000}}',
    );
    assert.deepEqual(ports(MAPPING + moved), [8080]);
    assert.deepEqual(
      ports(own('Mapping', '{prefix: /, service: s, node_group: other}')),
      [8080, 8000],
    );
    assert.deepEqual(ports(MAPPING, { ...shared, sharedEdge: false }), [8080, 8000]);
  });
});
