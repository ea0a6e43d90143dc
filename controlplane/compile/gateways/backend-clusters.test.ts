import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  CLASS,
  gateway,
  object,
  service,
  tlsSecret,
} from '#controlplane/gateway-api/testing/documents.ts';
import { clusterOf } from '#controlplane/gateway-api/testing/served.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { compile } from '../compile.ts';
import { EDGE } from '../node-groups.ts';

const OPTIONS = {
  edge: { host: '127.0.0.1', port: 1 },
  sds: { host: '127.0.0.1', port: 2 },
  rateLimit: { host: '127.0.0.1', port: 3 },
  extAuthz: { host: '127.0.0.1', port: 4 },
};

const TLS_TO_S = object(
  'BackendTLSPolicy',
  'p',
  'targetRefs: [{group: "", kind: Service, name: s}], validation: {hostname: s.test, wellKnownCACertificates: System}',
);
const TO_S = 'rules: [{backendRefs: [{name: s, port: 443}]}]';
const S = service('s', '{port: 443}');

const compiled = (text: string) => compile(clusterOf(CLASS + S + text), EDGE, OPTIONS).resources;

describe('a Service that one listener of a Gateway reaches over TLS, and another as it is', () => {
  let pair: { readonly certificate: string; readonly key: string };
  before(async () => {
    pair = await (await testAuthority()).issue('t.test');
  });

  const terminating =
    '{name: tls, port: 8443, protocol: TLS, hostname: t.test, tls: {certificateRefs: [{name: c}]}}';
  const others = {
    TCPRoute: '{name: other, port: 8001, protocol: TCP}',
    TLSRoute:
      '{name: other, port: 8443, protocol: TLS, hostname: p.test, tls: {mode: Passthrough}}',
  };

  for (const [kind, other] of Object.entries(others))
    for (const first of [true, false])
      test(`is spoken to as each asks, with a ${kind} ${first ? 'before' : 'behind'}`, () => {
        const listeners = first ? [other, terminating] : [terminating, other];
        const at = (name: string, host: string) =>
          `parentRefs: [{name: g, sectionName: ${name}}], ${host} ${TO_S}`;
        const otherHost = kind === 'TLSRoute' ? 'hostnames: [p.test],' : '';
        const found = compiled(
          tlsSecret('c', pair) +
            TLS_TO_S +
            gateway('g', `listeners: [${listeners}]`) +
            object('TLSRoute', 'terminates', at('tls', 'hostnames: [t.test],')) +
            object(kind, 'passes', at('other', otherHost)),
        );
        const clusters = new Map(found.get(CLUSTER)?.map(({ name, json }) => [name, json]));
        const text = JSON.stringify(found.get(LISTENER));
        const isSecure = (listener: string) => {
          const [, name = ''] =
            new RegExp(`"stat_prefix":"Gateway/infra/g/${listener}","cluster":"([^"]*)"`).exec(
              text,
            ) ?? [];
          assert.ok(clusters.has(name), `no cluster "${name}" for ${listener}`);
          return clusters.get(name)?.transport_socket !== undefined;
        };
        assert.deepEqual([isSecure('tls'), isSecure('other')], [true, false]);
      });
});

test('a number of TCP and of UDP has the instances of each', () => {
  const dns = service(
    's',
    '{name: t, port: 53}, {name: u, port: 53, protocol: UDP, targetPort: 5353}, {name: v, port: 54, protocol: UDP}, {name: w, port: 55}, {name: x, port: 55, protocol: UDP, targetPort: 55}',
  );
  const route = (kind: string, port: number, section: string) =>
    object(
      kind,
      section,
      `parentRefs: [{name: g, sectionName: ${section}}], rules: [{backendRefs: [{name: s, port: ${port}}]}]`,
    );
  const listeners =
    '{name: t, port: 8001, protocol: TCP}, {name: u, port: 8001, protocol: UDP}, {name: v, port: 8002, protocol: UDP}, {name: x, port: 8003, protocol: UDP}';
  const text = [
    ...[CLASS, dns, gateway('g', `listeners: [${listeners}]`)],
    ...[route('TCPRoute', 53, 't'), route('UDPRoute', 53, 'u'), route('UDPRoute', 54, 'v')],
    route('UDPRoute', 55, 'x'),
  ].join('');
  const found = compile(clusterOf(text), EDGE, OPTIONS).resources;
  const discovered = new Map(
    found
      .get(CLUSTER)
      ?.map(({ name, json }) => [name, /"service_name":"([^"]*)"/.exec(JSON.stringify(json))?.[1]]),
  );
  const asked = ['t', 'u', 'v', 'x'].map(name => {
    const used = new RegExp(`"stat_prefix":"Gateway/infra/g/${name}",.*?"cluster":"([^"]*)"`);
    return discovered.get(used.exec(JSON.stringify(found.get(LISTENER)))?.[1] ?? '');
  });
  assert.deepEqual(asked, ['s.infra:53', 's.infra:53/udp', 's.infra:54', 's.infra:55']);
});

describe('Gateways that share an edge', () => {
  let pair: { readonly certificate: string; readonly key: string };
  before(async () => {
    pair = await (await testAuthority()).issue('g.test');
  });

  const ROUTE = 'matches: [{path: {value: /}}], backendRefs: [{name: s, port: 443}]';
  const ASKS =
    'filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {}, backendRef: {name: s, port: 443}}}, {type: RequestMirror, requestMirror: {backendRef: {name: s, port: 443}}}]';
  const FILTERS =
    'filters: {requests: [{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {}, backendRef: {name: s, port: 443}}}]}';
  const site = (name: string, port: number, more: string) =>
    gateway(name, `listeners: [{name: l, port: ${port}, protocol: HTTP, ${FILTERS}}], ${more}`) +
    object('HTTPRoute', name, `parentRefs: [{name: ${name}}], rules: [{${ASKS}, ${ROUTE}}]`);
  const shows = (name: string) => `tls: {backend: {clientCertificateRef: {name: ${name}}}}`;

  test('show each backend their own certificate alone, and none without one', () => {
    const found = compiled(
      TLS_TO_S +
        tlsSecret('one', pair) +
        tlsSecret('two', pair) +
        site('a', 8001, '') +
        site('b', 8002, shows('one')) +
        site('c', 8003, shows('two')) +
        site('d', 8004, ''),
    );
    const shown = new Map(
      found.get(CLUSTER)?.map(({ name, json }) => {
        const text = JSON.stringify(json.transport_socket ?? {});
        return [name, /"key-pair\/[^"]*"/.exec(text)?.[0] ?? 'none'];
      }),
    );
    const all = [...(found.get(LISTENER) ?? []), ...(found.get(ROUTE_CONFIGURATION) ?? [])];
    const certificates = [8001, 8002, 8003, 8004].map(port => {
      const text = all.flatMap(({ name, json }) =>
        name.includes(`:${port}`) ? JSON.stringify(json) : [],
      );
      const used = [...text.join().matchAll(/"cluster":"(Service[^"]*)"/g)].map(([, name]) => name);
      // That of the route, of its copies, of its filter and of the listener's.
      assert.equal(used.length, 4);
      return [...new Set(used.map(name => shown.get(name ?? '')))].join();
    });
    const [one, two] = ['"key-pair/infra/one"', '"key-pair/infra/two"'];
    assert.deepEqual(certificates, ['none', one, two, 'none']);
  });

  test('have each backend once, for the routes of all of them', () => {
    const found = compiled(site('a', 8001, '') + site('b', 8002, '') + site('c', 8003, ''));
    const [cluster] = found.get(CLUSTER)?.filter(({ name }) => name.startsWith('Service/')) ?? [];
    const ids = ['a', 'b', 'c'].flatMap(name => [
      `Gateway/infra/${name}`,
      `HTTPRoute/infra/${name}`,
    ]);
    assert.deepEqual([...(cluster?.origins ?? [])].sort(), ids.sort());
  });
});
