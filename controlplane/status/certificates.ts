import { X509Certificate } from 'node:crypto';
import { EDGE, ofNodeGroup } from '#controlplane/compile/node-groups.ts';
import { type EdgeHost, edgeHosts } from '#controlplane/compile/tls/edge-hosts.ts';
import { keyPairOf, type ProxySecret } from '#controlplane/compile/tls/proxy-secret.ts';
import { listenerCertificates } from '#controlplane/gateway-api/listener-certificates.ts';
import { isJsonObject } from '#protos/json.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compareText } from '#resources/words/order.ts';

/** A certificate that the edge serves. */
export type CertificateStatus = {
  readonly hostname: string;
  /** Id of the Host, or of the Gateway or ListenerSet with the listener. */
  readonly host: string;
  /**
   * - `secret`: it is in a Secret.
   * - `files`: it is in files on the machine of the discovery service.
   * - `authority`: the built-in authority issues it, and renews it in time.
   * - `acme`: an ACME authority issues it, and it is renewed in time.
   */
  readonly source: 'secret' | 'files' | 'authority' | 'acme';
  /** By which name the discovery service serves it. */
  readonly secret: string;
  /** Absent where only the discovery service knows the certificate. */
  readonly facts?: CertificateFacts;
};

export type CertificateFacts = {
  /** ISO 8601. */
  readonly notAfter: string;
  readonly issuer: string;
  /** Hexadecimal, in lower case. */
  readonly serial: string;
};

/**
 * Returns the certificates of the Hosts and of the listeners' Secrets in force, the one that ends
 * first at the beginning.
 */
export function certificates(
  resources: ResourceSet,
  gatewayController?: string,
): readonly CertificateStatus[] {
  const { hosts } = edgeHosts(ofNodeGroup(resources, EDGE));
  return [...hosts.flatMap(statusOf), ...ofListeners(resources, gatewayController)].sort((a, b) =>
    compareText(endOf(a), endOf(b)),
  );
}

/** What only the discovery service knows comes last. */
function endOf({ facts }: CertificateStatus): string {
  return facts?.notAfter ?? '~';
}

function statusOf({ hostname, id, tls }: EdgeHost): readonly CertificateStatus[] {
  if (tls === undefined || tls === 'broken') return [];
  return [toStatus(hostname, id, tls.certificate)];
}

function ofListeners(
  resources: ResourceSet,
  gatewayController: string | undefined,
): readonly CertificateStatus[] {
  const all = listenerCertificates(resources, gatewayController).flatMap(
    ({ hostname, origin, secret }) => {
      const found = keyPairOf(secret, resources.secrets);
      return 'value' in found ? [toStatus(hostname, origin.id, found.value)] : [];
    },
  );
  // Listeners for several ports or protocols may share one.
  return [
    ...new Map(all.map(each => [`${each.host} ${each.hostname} ${each.secret}`, each])).values(),
  ];
}

function toStatus(hostname: string, host: string, certificate: ProxySecret): CertificateStatus {
  const source = sourceOf(certificate.content());
  const facts = source === 'secret' ? rememberedFacts(certificate) : undefined;
  return { hostname, host, source, secret: certificate.name, ...(facts && { facts }) };
}

function sourceOf(content: object): CertificateStatus['source'] {
  if ('key_pair' in content) return 'secret';
  if ('acme' in content) return 'acme';
  return 'issued' in content ? 'authority' : 'files';
}

/** By the owner of the secret, since the status is asked for again and again. */
const KNOWN = new WeakMap<object, CertificateFacts>();

function rememberedFacts({ owner, content }: ProxySecret): CertificateFacts | undefined {
  const known = owner && KNOWN.get(owner);
  if (known !== undefined) return known;
  const { key_pair } = content();
  const facts = isJsonObject(key_pair ?? null) ? factsOf(key_pair) : undefined;
  if (owner !== undefined && facts !== undefined) KNOWN.set(owner, facts);
  return facts;
}

/** @returns undefined when it is no certificate, which is a Problem of the Secret */
function factsOf(pair: unknown): CertificateFacts | undefined {
  const { certificate_chain } = pair as { readonly certificate_chain: string };
  try {
    const leaf = new X509Certificate(Buffer.from(certificate_chain, 'base64'));
    return {
      notAfter: leaf.validToDate.toISOString(),
      issuer: leaf.issuer.replaceAll('\n', ', '),
      serial: leaf.serialNumber.toLowerCase(),
    };
  } catch {
    return undefined;
  }
}
