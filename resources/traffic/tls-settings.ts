import * as z from 'zod';
import { caution, type Finding, fault } from '#resources/finding.ts';
import { falseByDefault, trueByDefault } from '#resources/words/flags.ts';
import { parseHost } from '#resources/words/host.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { port } from '#resources/words/number-types.ts';
import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';
import { parseSecretName } from '#resources/words/secret-name.ts';
import {
  alpnProtocols,
  cipherSuites,
  ecdhCurves,
  isWeakSuite,
  TLS_VERSIONS,
  tlsVersion,
} from './tls-words.ts';

function parsePath(text: string): Parsed<string> {
  if (/^\/[^\0]{1,4094}$/.test(text)) return { value: text };
  return { error: `"${text.slice(0, 80)}" is not an absolute path` };
}

const path = checkedString('an absolute path', parsePath);
const secret = checkedString('the name of a Secret', parseSecretName);

/** RFC 6066, section 3: an address is no server name. */
function parseServerName(text: string): Parsed<string> {
  if (ipVersion(text) !== 0)
    return { error: `"${text}" is an address: TLS names hosts by name only` };
  return parseHost(text);
}

const serverName = checkedString('a host name', parseServerName);

/** How TLS is used, and with which peers. A TLSContext sets it, or a Host for itself alone. */
export const tlsSettingsShape = {
  cert_chain_file: path
    .exactOptional()
    .describe(
      'File with the certificate, then those that lead to its root (PEM), on the machine of the discovery service, which watches it. Below a folder of its `CERTIFICATE_FILES`, by default `/etc/gateway`',
    ),
  private_key_file: path.exactOptional().describe('File with its key. With `cert_chain_file`'),
  ca_secret: secret
    .exactOptional()
    .describe(
      'Secret with the authorities (`ca.crt`, else `tls.crt`) whose certificates are trusted: those of clients, or of services',
    ),
  cacert_chain_file: path.exactOptional().describe('The same from a file'),
  secret_namespacing: trueByDefault.describe(
    "In a Secret's name here what follows the last dot is its namespace",
  ),
  cert_required: falseByDefault.describe(
    'Clients must have a certificate. Without it they may have one, which is checked',
  ),
  min_tls_version: tlsVersion
    .default('v1.2')
    .describe('Oldest version. Below `v1.2` none is served (RFC 8996)'),
  max_tls_version: tlsVersion.default('v1.3').describe('Newest version'),
  cipher_suites: cipherSuites
    .exactOptional()
    .describe("Suites of TLS 1.2, by OpenSSL's names. Default: Envoy's"),
  ecdh_curves: ecdhCurves.exactOptional().describe("Groups of the key exchange. Default: Envoy's"),
  alpn_protocols: alpnProtocols
    .default(['h2', 'http/1.1'])
    .describe(
      'Protocols that are offered to clients. The first that the client has too. A service is offered the one that it is asked by (`grpc`)',
    ),
  sni: serverName
    .exactOptional()
    .describe(
      'Name by which a service is asked, and for which its certificate must be. Hosts have no use for it',
    ),
  redirect_cleartext_from: port
    .exactOptional()
    .describe(
      "Ambassador's: requests without TLS are redirected, also where the `requestPolicy` of the Host says `Route`. The port is not compared",
    ),
};

/** The settings that require TLS or certificates of clients, and how strictly. */
export const RESTRICTING_TLS: readonly string[] = [
  'cert_chain_file',
  'private_key_file',
  'ca_secret',
  'cacert_chain_file',
  'cert_required',
  'min_tls_version',
  'cipher_suites',
  'ecdh_curves',
  'redirect_cleartext_from',
];

const shape = z.object(tlsSettingsShape);
export type TlsSettings = z.output<typeof shape>;

/** The settings when none is written. */
export const DEFAULT_TLS_SETTINGS: TlsSettings = shape.parse({});

/** Checks the rules between them. */
export function checkTlsSettings(settings: Partial<TlsSettings>): readonly Finding[] {
  return [
    ...checkVersions(settings),
    ...checkFiles(settings),
    ...checkClients(settings),
    ...checkSuites(settings),
  ];
}

function checkVersions({
  min_tls_version: min,
  max_tls_version: max,
}: Partial<TlsSettings>): readonly Finding[] {
  const tooOld = (version: string | undefined) => version === 'v1.0' || version === 'v1.1';
  if (tooOld(max)) {
    return [
      fault(
        ['max_tls_version'],
        `TLS ${max?.slice(1)} is not served (RFC 8996): write \`v1.2\` or \`v1.3\``,
      ),
    ];
  }
  const old = tooOld(min)
    ? [
        caution(
          ['min_tls_version'],
          `TLS 1.0 and 1.1 are not served (RFC 8996): the oldest version is \`v1.2\``,
        ),
      ]
    : [];
  if (
    min === undefined ||
    max === undefined ||
    TLS_VERSIONS.indexOf(min) <= TLS_VERSIONS.indexOf(max)
  )
    return old;
  return [fault(['min_tls_version'], '`min_tls_version` is newer than `max_tls_version`')];
}

function checkFiles(settings: Partial<TlsSettings>): readonly Finding[] {
  const { cert_chain_file: chain, private_key_file: key, ca_secret, cacert_chain_file } = settings;
  return [
    ...(chain !== undefined && key === undefined
      ? [fault(['cert_chain_file'], '`cert_chain_file` needs `private_key_file` beside it')]
      : []),
    ...(chain === undefined && key !== undefined
      ? [fault(['private_key_file'], '`private_key_file` needs `cert_chain_file` beside it')]
      : []),
    ...(ca_secret !== undefined && cacert_chain_file !== undefined
      ? [fault(['cacert_chain_file'], '`ca_secret` and `cacert_chain_file` exclude each other')]
      : []),
  ];
}

/** Without authorities every certificate would be accepted. */
function checkClients(settings: Partial<TlsSettings>): readonly Finding[] {
  const { cert_required, ca_secret, cacert_chain_file } = settings;
  if (cert_required !== true || ca_secret !== undefined || cacert_chain_file !== undefined)
    return [];
  return [
    fault(
      ['cert_required'],
      '`cert_required` needs `ca_secret` or `cacert_chain_file`: whose certificates are taken',
    ),
  ];
}

function checkSuites({ cipher_suites = [] }: Partial<TlsSettings>): readonly Finding[] {
  return cipher_suites.flatMap((suite, index) =>
    isWeakSuite(suite)
      ? [
          caution(
            ['cipher_suites', index],
            `"${suite}" is weak: no forward secrecy, or CBC (RFC 9325, 4.2)`,
          ),
        ]
      : [],
  );
}
