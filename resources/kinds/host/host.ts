import { caution, type Finding, fault } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { checkTlsSettings, RESTRICTING_TLS } from '#resources/traffic/tls-settings.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { acmeOrderOf } from './acme-order.ts';
import { checkAcmeProvider } from './acme-provider.ts';
import { type HostSpec, hostSpec } from './host-spec.ts';

/**
 * A host that clients reach. It sets the host's certificate, and the answer to requests without
 * TLS.
 */
export const host: KindDefinition<typeof hostSpec> = {
  summary:
    'A host that clients reach, with its certificate and the answer to requests without TLS.',
  schema: hostSpec,
  metadata: ['labels'],
  fieldsAt: 'spec',
  unknownField: 'warning',
  restricting: [
    'hostname',
    'mappingSelector',
    'mappingSelector.matchLabels',
    'mappingSelector.matchExpressions',
    'mapping_selector',
    'selector',
    'tlsSecret',
    'tlsContext',
    'tls',
    'tls.issuer',
    ...RESTRICTING_TLS.map(field => `tls.${field}`),
    'requestPolicy',
    'requestPolicy.insecure',
    'requestPolicy.insecure.action',
  ],
  check: checkHost,
};

/** Whether the Host uses TLS. Its certificate may still be unknown. */
function hasTls(spec: Partial<HostSpec>): boolean {
  const { tls, tlsContext, tlsSecret } = spec;
  return [tlsSecret, tlsContext, tls, acmeOrderOf(spec)].some(part => part !== undefined);
}

/** Checks the rules between a Host's fields. */
export function checkHost(spec: Partial<HostSpec>): readonly Finding[] {
  return [
    ...checkTls(spec),
    ...checkName(spec),
    ...checkAcmeProvider(spec.acmeProvider, spec.hostname ?? '*', spec.tlsSecret),
    ...checkPolicy(spec),
    ...checkHsts(spec),
  ];
}

function checkTls(spec: Partial<HostSpec>): readonly Finding[] {
  const { tls, tlsContext, tlsSecret } = spec;
  if (tls === undefined) return [];
  const ordered = acmeOrderOf(spec) !== undefined;
  const sources = [
    ...(ordered ? ['`acmeProvider`'] : []),
    ...(tlsSecret === undefined || ordered ? [] : ['`tlsSecret`']),
    ...(tls.issuer === undefined ? [] : ['`tls.issuer`']),
    ...(tls.cert_chain_file === undefined ? [] : ['`tls.cert_chain_file`']),
  ];
  return [
    ...checkTlsSettings(tls).map(finding => ({ ...finding, path: ['tls', ...finding.path] })),
    ...(tls.sni === undefined
      ? []
      : [
          caution(
            ['tls', 'sni'],
            '`sni` has no effect in a Host: it is for services that Mappings ask',
          ),
        ]),
    ...(tlsContext === undefined
      ? []
      : [fault(['tls'], '`tls` and `tlsContext` exclude each other')]),
    ...(sources.length > 1
      ? [fault(['tls'], `a Host has one certificate: keep one of ${sources.join(', ')}`)]
      : []),
    ...(sources.length === 0 && tlsContext === undefined
      ? [fault(['tls'], '`tls` needs a certificate: `tlsSecret`, or `tls: { issuer: gateway }`')]
      : []),
  ];
}

/**
 * RFC 6066, section 3: an address is no server name. So a client that connects to one sends no
 * name.
 */
function checkName(spec: Partial<HostSpec>): readonly Finding[] {
  const { hostname = '*' } = spec;
  if (!hasTls(spec) || ipVersion(hostname) === 0) return [];
  return [
    fault(
      ['hostname'],
      `"${hostname}" is an address: no client names it in TLS. Serve it by the Host of \`*\``,
    ),
  ];
}

function checkPolicy({ requestPolicy, tls }: Partial<HostSpec>): readonly Finding[] {
  const { action, additionalPort = -1 } = requestPolicy?.insecure ?? {};
  const path = ['requestPolicy', 'insecure'];
  return [
    ...(additionalPort > 0
      ? [caution([...path, 'additionalPort'], '`additionalPort` opens no port: a Listener does')]
      : []),
    ...(action === 'Route' && tls?.cert_required === true
      ? [
          caution(
            [...path, 'action'],
            'requests without TLS are served, and have no client certificate',
          ),
        ]
      : []),
  ];
}

function checkHsts({ hsts, ...spec }: Partial<HostSpec>): readonly Finding[] {
  if (hsts === undefined) return [];
  const { includeSubDomains, max_age, preload } = hsts;
  return [
    ...(hasTls(spec)
      ? []
      : [caution(['hsts'], 'it is sent over TLS only, and this Host has none')]),
    ...(preload && (!includeSubDomains || max_age < 31_536_000)
      ? [
          caution(
            ['hsts', 'preload'],
            'browsers list a host with `includeSubDomains: true` and a `max_age` of a year (31536000) or more',
          ),
        ]
      : []),
  ];
}
