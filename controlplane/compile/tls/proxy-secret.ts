import type { JsonObject } from '#protos/json.ts';
import type { AcmeOrder } from '#resources/kinds/host/acme-order.ts';
import { secretValue } from '#resources/kinds/secret/secret.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { SecretReference } from '#resources/words/secret-reference.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import { contentHash } from '../clusters/content-hash.ts';

type Secrets = ResourceSet['secrets'];

/**
 * A secret that a listener or cluster names and the discovery service of secrets serves: the fields
 * of `gateway.config.v1.ServedSecret`.
 */
export type ProxySecret = {
  /**
   * Made from the source, never from the content, so it stays when the content changes. No two
   * kinds of source share one.
   */
  readonly name: string;
  /** The object that the content belongs to and goes with. Absent: none. */
  readonly owner?: object;
  /**
   * The resource and field that name content unknown here. The discovery service reports to them
   * what is wrong with it.
   */
  readonly named?: { readonly resource: string; readonly field: string };
  readonly content: () => JsonObject;
};

/** The user of a secret: a node group, by resources of these ids. */
export type SecretUser = {
  readonly secret: ProxySecret;
  readonly group: string;
  readonly origins: readonly string[];
};

/** Returns a certificate with its key, of a Secret of type `kubernetes.io/tls`. */
export function keyPairOf(
  reference: Required<SecretReference>,
  secrets: Secrets,
): Parsed<ProxySecret> {
  return ofSecret(reference, secrets, ({ spec }, place) => {
    const certificate = secretValue(spec, CERTIFICATE_KEY);
    const key = secretValue(spec, PRIVATE_KEY_KEY);
    if (certificate === undefined)
      return { error: `the Secret ${place} has no key \`${CERTIFICATE_KEY}\`` };
    if (key === undefined)
      return { error: `the Secret ${place} has no key \`${PRIVATE_KEY_KEY}\`` };
    const content = () => ({
      key_pair: { certificate_chain: base64(certificate), private_key: base64(key) },
    });
    return { value: { name: `key-pair/${place}`, owner: spec, content } };
  });
}

/**
 * Returns the authorities of a Secret, of Kubernetes' own form (`ca.crt`) or of Ambassador's
 * (`tls.crt`).
 */
export function authoritiesOf(
  reference: Required<SecretReference>,
  secrets: Secrets,
): Parsed<ProxySecret> {
  return ofSecret(reference, secrets, (secret, place) => {
    const ca = authoritiesIn(secret);
    if (ca === undefined)
      return {
        error: `the Secret ${place} has neither \`${AUTHORITIES_KEY}\` nor \`${CERTIFICATE_KEY}\``,
      };
    const content = () => ({ trusted_ca: base64(ca) });
    return { value: { name: `authorities/${place}`, owner: secret.spec, content } };
  });
}

export function authoritiesIn({ spec }: Resource<'Secret'>): SecretValue | undefined {
  return secretValue(spec, AUTHORITIES_KEY) ?? secretValue(spec, CERTIFICATE_KEY);
}

/** Returns what the resource says about files on the machine of the discovery service. */
export function keyPairFiles(by: NamesFiles, chain: string, key: string): ProxySecret {
  const content = () => ({ key_pair_files: { certificate_chain: chain, private_key: key } });
  return { name: `key-pair-files/${by.id}`, named: namedIn(by, 'cert_chain_file'), content };
}

export function authoritiesFile(by: NamesFiles, file: string): ProxySecret {
  const content = () => ({ trusted_ca_file: file });
  return { name: `authorities-file/${by.id}`, named: namedIn(by, 'cacert_chain_file'), content };
}

type NamesFiles = Resource<'Host' | 'TLSContext'>;

function namedIn({ id, kind }: NamesFiles, field: string) {
  return { resource: id, field: kind === 'Host' ? `spec.tls.${field}` : `spec.${field}` };
}

/**
 * Returns a certificate of the built-in authority. No certificate is for every host: that of `*` is
 * for this machine.
 */
export function issuedFor(hostname: string, named: Required<ProxySecret>['named']): ProxySecret {
  const hosts = hostname === '*' ? ['localhost', '127.0.0.1', '::1'] : [hostname];
  return { name: issuedName(hostname), named, content: () => ({ issued: { hosts } }) };
}

export function issuedName(hostname: string): string {
  return `gateway/issued/${hostname}`;
}

/**
 * Returns the certificate that an ACME authority issues for a Host. The discovery service orders
 * and keeps it.
 */
export function orderedFor(
  host: Resource<'Host'>,
  { authority, email, privateKeySecret }: AcmeOrder,
): ProxySecret {
  const { id, namespace, spec } = host;
  const { hostname } = spec;
  const account = `acme-account-${contentHash(`${authority} ${email}`)}`;
  const content = () => ({
    acme: {
      hostname,
      directory: authority,
      email,
      certificate: orderedSecret(host),
      account: { namespace, name: account, ...privateKeySecret },
    },
  });
  const named = { resource: id, field: 'spec.acmeProvider' };
  return { name: `gateway/acme/${hostname}`, named, content };
}

/** Returns the Secret that keeps what an ACME authority issues for a Host. */
export function orderedSecret({
  namespace,
  spec: { hostname, tlsSecret },
}: Resource<'Host'>): Required<SecretReference> {
  return { namespace, name: `acme-${hostname}`, ...tlsSecret };
}

/**
 * Returns the name of the secret that proves the name of a Host to an ACME authority by TLS (RFC
 * 8737). It is served while an order is open.
 */
export function challengeName(hostname: string): string {
  return `gateway/acme-challenge/${hostname}`;
}

export const CERTIFICATE_KEY = 'tls.crt';
export const PRIVATE_KEY_KEY = 'tls.key';
const AUTHORITIES_KEY = 'ca.crt';

/** Returns what is read of the Secret, with its place, or an error when there is none. */
function ofSecret(
  { namespace, name }: Required<SecretReference>,
  secrets: Secrets,
  read: (secret: Resource<'Secret'>, place: string) => Parsed<ProxySecret>,
): Parsed<ProxySecret> {
  const place = `${namespace}/${name}`;
  const secret = secrets.find(found => found.namespace === namespace && found.name === name);
  return secret === undefined
    ? { error: `there is no Secret ${place} in force` }
    : read(secret, place);
}

function base64(value: SecretValue): string {
  return Buffer.from(value.reveal()).toString('base64');
}
