import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { compileOptions } from '../../cli/built-in-addresses.ts';
import { parseClientRequest } from './client-request.ts';
import { describe } from './describe.ts';
import { explain } from './explanation.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const RESOURCES = [
  document('Mapping', 'all', 'prefix: /, service: s'),
  document('Host', 'shop', 'hostname: shop.example.com, tls: {issuer: gateway}'),
  document(
    'Host',
    'wild',
    'hostname: "*.example.com", tls: {issuer: gateway}, requestPolicy: {insecure: {action: Reject}}',
  ),
  document('Host', 'bare', 'hostname: bare.example.com, tlsSecret: missing'),
  document(
    'Host',
    'strict',
    'hostname: strict.example.org, tls: {issuer: gateway, cacert_chain_file: /ca, cert_required: true}',
  ),
  document(
    'Host',
    'free',
    'hostname: free.example.org, requestPolicy: {insecure: {action: Route}}',
  ),
].join('');

/** Returns what `gateway explain` prints for a GET. */
function explained(url: string, header: readonly string[] = [], yaml = RESOURCES): string {
  const { problems, resources } = resourceSetOf(yaml, 'in.yaml');
  const request = parseClientRequest('GET', url, { header, from: '203.0.113.7' });
  return describe(
    explain({ resources, problems, nodeGroup: 'edge', request, options: compileOptions({}) })
      .explanation,
  );
}

for (const [url, said] of [
  [
    'https://shop.example.com/',
    /\n {2}over TLS of Host default\/shop \(in\.yaml:\d+\)\nRoute\n {2}Mapping default\/all /,
  ],
  [
    'https://SHOP.example.com:8443/',
    /over TLS of Host default\/shop .*may pass any number of times/s,
  ],
  ['https://a.b.example.com/', /over TLS of Host default\/wild /],
  [
    'https://strict.example.org/',
    /over TLS of Host default\/strict .*may pass any number of times/s,
  ],
  [
    'https://bare.example.com/',
    /goes to no service: the Host of bare\.example\.com cannot speak TLS/,
  ],
  ['https://free.example.org/', /goes to no service: no Host has TLS for free\.example\.org/],
  ['https://10.0.0.1/', /goes to no service: no Host has TLS for a client without a server name/],
  ['https://[::1]:8443/', /goes to no service: no Host has TLS for a client without a server name/],
  [
    'http://shop.example.com/x',
    /\n {2}Host default\/shop .*is answered 301: its Host redirects requests without TLS to https/s,
  ],
  ['http://a.example.com/', /is answered 403: its Host rejects requests without TLS/],
  ['http://free.example.org/', /may pass any number of times/],
  ['http://free.example.org:8080/', /may pass any number of times/],
  [
    'http://other.example.org/',
    /is answered 404: no Host covers other\.example\.org, and Mappings are served on/,
  ],
] as const) {
  test(`${url} is explained with its Host`, () => {
    assert.match(explained(url), said);
  });
}

test('a request for the host of another connection is answered 421', () => {
  const said = explained('https://shop.example.com/', ['Host: a.example.com']);
  assert.match(
    said,
    /over TLS of Host default\/shop .*is answered 421: it asks for a host that is not that of/s,
  );
});

test('a client that says so itself is not over TLS', () => {
  const said = explained('http://shop.example.com/', [
    'X-Gateway-TLS-Host: shop.example.com',
    'X-Forwarded-Proto: https',
  ]);
  assert.match(said, /is answered 301/);
});

test('where every Host redirects, so is a name that no Host covers', () => {
  const yaml =
    document('Mapping', 'all', 'prefix: /, service: s') +
    document('Host', 'shop', 'hostname: shop.example.com, tls: {issuer: gateway}');
  const said = explained('http://other.example.org/', [], yaml);
  assert.match(
    said,
    /is answered 301: no Host covers its name, and every Host redirects requests without TLS/,
  );
});

test('without a Host nobody listens for TLS', () => {
  const said = explained(
    'https://shop.example.com/',
    [],
    document('Mapping', 'all', 'prefix: /, service: s'),
  );
  assert.match(said, /goes to no service: nothing listens for TLS, since no Host has it/);
});

test('a listener at an address before that of TLS explains the same', () => {
  const listener = document(
    'ProxyConfig',
    'p',
    'node_group: edge, listener: {address: 127.0.0.1, port: 9000}',
  );
  assert.match(explained('http://a.example.com/', [], RESOURCES + listener), /is answered 403/);
});

const PORTS = [
  document('Mapping', 'all', 'prefix: /, service: s'),
  document('Host', 'shop', 'hostname: "*.example.com", tls: {issuer: gateway}').replace(
    '{name: shop}',
    '{name: shop, labels: {reach: public}}',
  ),
  document('Host', 'admin', 'hostname: admin.example.com'),
  document(
    'Listener',
    'inside',
    'port: 8080, protocol: HTTP, securityModel: SECURE, hostBinding: {}',
  ),
  document(
    'Listener',
    'public',
    'port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {selector: {matchLabels: {reach: public}}}',
  ),
].join('');

for (const [url, said] of [
  ['http://a.example.com:8080/', /Route\n {2}Mapping default\/all /],
  ['http://a.example.com:8443/', /301/],
  ['https://a.example.com:8443/', /over TLS of Host default\/shop .*Mapping default\/all /s],
  ['http://admin.example.com:8080/', /Route\n {2}Mapping default\/all /],
  ['http://admin.example.com/', /Route\n {2}Mapping default\/all /],
  ['http://admin.example.com:8443/', /Host default\/admin .*404/s],
  ['https://admin.example.com:8443/', /421/],
] as const)
  test(`${url} is explained by the Listener of its port`, () => {
    assert.match(explained(url, [], PORTS), said);
  });
