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
import { CLUSTER, LISTENER } from '#protos/type-url.ts';
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
