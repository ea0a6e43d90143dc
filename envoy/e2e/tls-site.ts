import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestAuthority, testAuthority } from '#grpc/testing/test-authority.ts';
import { handshake, type TlsAsk } from './https-request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { startUpstream } from './upstream.ts';

export type Pair = Awaited<ReturnType<TestAuthority['issue']>>;

/** A system whose edge speaks TLS for some Hosts, and the authorities around it. */
export type TlsSite = {
  readonly system: System;
  /** Issued the certificate of shop.example.com. */
  readonly authority: TestAuthority;
  /** Issues the client certificates that partners.example.com accepts. */
  readonly clients: TestAuthority;
  readonly shop: Pair;
  /** Returns how to connect to the edge for a name. */
  readonly at: (sni: string | undefined, more?: Partial<TlsAsk>) => TlsAsk;
  /** Returns the roots of the built-in authority. */
  readonly roots: () => string;
  readonly stop: () => Promise<void>;
};

/** The identity of a client with a certificate. */
export const CLIENT = 'spiffe://client.example/a';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

export const host = (name: string, spec: string) => document('Host', name, spec);

export const base64 = (text: string) => Buffer.from(text).toString('base64');

export const secret = (name: string, { ca, certificate, key }: Pair) =>
  `---\napiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\ntype: kubernetes.io/tls\ndata: {tls.crt: ${base64(certificate)}, tls.key: ${base64(key)}, ca.crt: ${base64(ca)}}\n`;

/** Starts it. Resolves when the edge answers by TLS. */
export async function startTlsSite(): Promise<TlsSite> {
  const [upstream, authority, clients] = await Promise.all([
    startUpstream('upstream'),
    testAuthority(),
    testAuthority(),
  ]);
  const shop = await authority.issue('shop.example.com');
  const partners = await authority.issue('partners.example.com');
  const resources = resourcesOf(upstream.port, shop, { ...partners, ca: clients.ca });
  const system = await startSystem({ resources: { 'tls.yaml': resources } });
  const at: TlsSite['at'] = (sni, more = {}) => ({
    port: system.ports.edgeTls,
    ...(sni === undefined ? {} : { sni }),
    ...more,
  });
  const roots = () => readFileSync(join(system.state, 'authority', 'roots.pem'), 'utf8');
  const stop = async () => {
    await system.stop();
    await upstream.close();
  };
  for (const name of ['shop.example.com', 'wild.example.com'])
    await until(() => handshake(at(name)).catch(() => undefined));
  return { system, authority, clients, shop, at, roots, stop };
}

function resourcesOf(port: number, shop: Pair, partners: Pair): string {
  return [
    document('Mapping', 'all', `prefix: /, rewrite: "", service: '127.0.0.1:${port}'`),
    document(
      'Mapping',
      'acme',
      `prefix: /.well-known/acme-challenge/, rewrite: "", service: '127.0.0.1:${port}'`,
    ),
    document('Mapping', 'broken', `prefix: /broken/, service: 'ftp://x'`),
    secret('shop', shop),
    secret('partners', partners),
    host(
      'shop',
      'hostname: shop.example.com, tlsSecret: shop, hsts: {max_age: 600, includeSubDomains: true}',
    ),
    host(
      'wild',
      'hostname: "*.example.com", tls: {issuer: gateway, min_tls_version: v1.3}, requestPolicy: {insecure: {action: Reject}}',
    ),
    host(
      'partners',
      'hostname: partners.example.com, tlsSecret: partners, tls: {ca_secret: partners, cert_required: true}',
    ),
    host(
      'old',
      'hostname: old.example.com, tls: {issuer: gateway, max_tls_version: v1.2, cipher_suites: [ECDHE-ECDSA-AES256-GCM-SHA384], alpn_protocols: http/1.1}, requestPolicy: {insecure: {action: Route}}',
    ),
  ].join('');
}
