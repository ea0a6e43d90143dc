import { X509Certificate } from 'node:crypto';
import { secretValue } from '#resources/kinds/secret/secret.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/** A certificate that a Secret holds, and who serves it. Nothing of its key is here. */
export type CertificateRow = {
  readonly id: string;
  readonly names: readonly string[];
  readonly issuer: string;
  /** Ms since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Hosts and TLSContexts that name the Secret. */
  readonly usedBy: readonly string[];
  readonly file: string;
  readonly line: number;
};

export type HostRow = {
  readonly id: string;
  readonly hostname: string;
  /** Where its certificate comes from. */
  readonly from: string;
  readonly file: string;
  readonly line: number;
};

export type Certificates = {
  readonly certificates: readonly CertificateRow[];
  readonly hosts: readonly HostRow[];
};

/** Returns the certificates in force, those that end first at the top. */
export function certificates(resources: ResourceSet): Certificates {
  const rows = resources.secrets.flatMap(({ id, name, namespace, source, spec }) => {
    const facts = certificateFacts(secretValue(spec, 'tls.crt')?.reveal());
    if (facts === undefined) return [];
    return [{ id, ...facts, usedBy: usersOf(`${namespace}/${name}`, resources), ...source }];
  });
  return {
    certificates: rows.sort((a, b) => a.notAfter - b.notAfter),
    hosts: resources.hosts.map(({ id, source, spec }) => ({
      id,
      hostname: spec.hostname,
      from:
        spec.tls?.issuer === 'gateway'
          ? 'the built-in authority'
          : spec.tlsSecret !== undefined
            ? `Secret ${spec.tlsSecret.name}`
            : spec.tlsContext !== undefined
              ? `TLSContext ${spec.tlsContext.name}`
              : 'none written',
      ...source,
    })),
  };
}

function usersOf(secret: string, { hosts, tlsContexts }: ResourceSet): readonly string[] {
  const named = (namespace: string, name: string) =>
    name.includes('/') ? name : `${namespace}/${name}`;
  return [
    ...hosts
      .filter(
        ({ namespace, spec: { tlsSecret } }) =>
          tlsSecret !== undefined &&
          named(tlsSecret.namespace ?? namespace, tlsSecret.name) === secret,
      )
      .map(({ spec }) => `Host ${spec.hostname}`),
    ...tlsContexts
      .filter(
        ({ namespace, spec }) =>
          spec.secret !== undefined && named(namespace, spec.secret) === secret,
      )
      .map(({ id }) => id.replace('/', ' ')),
  ];
}

/** Reads the first certificate of a chain. */
function certificateFacts(pem: Uint8Array | undefined) {
  if (pem === undefined) return undefined;
  try {
    const { issuer, subjectAltName, validFromDate, validToDate } = new X509Certificate(pem);
    return {
      names: (subjectAltName ?? '')
        .split(', ')
        .filter(name => name !== '')
        .map(name => name.replace(/^DNS:|^IP Address:/, '')),
      issuer:
        issuer
          .split('\n')
          .find(line => line.startsWith('CN='))
          ?.slice(3) ?? issuer.replaceAll('\n', ', '),
      notBefore: validFromDate.getTime(),
      notAfter: validToDate.getTime(),
    };
  } catch {
    return undefined;
  }
}
