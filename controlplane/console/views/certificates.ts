import type { Knowledge, ListedCertificate } from '#controlplane/knowledge/knowledge.ts';
import type { CertificateStatus } from '#controlplane/status/certificates.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type Known, orError } from './knowledge.ts';

/** A certificate of a Host, with the place of the Host. */
export type HostCertificate = CertificateStatus & {
  readonly file?: string;
  readonly line?: number;
};

export type CertificatesView = {
  readonly hosts: readonly HostCertificate[];
  /** All others that the discovery service has: identities, roots, secrets. */
  readonly others: Certificates;
};

export type Certificates = Known<{ readonly certificates: readonly ListedCertificate[] }>;

export function askCertificates(knowledge: Knowledge): Promise<Certificates> {
  return orError(knowledge.certificates().then(certificates => ({ certificates })));
}

/** The discovery service alone knows the ends of those that are in files, or that it issues. */
export function certificatesView(
  hosts: readonly CertificateStatus[],
  known: Certificates,
  resources: ResourceSet,
): CertificatesView {
  const places = new Map(resources.hosts.map(({ id, source }) => [id, source]));
  const all = 'error' in known ? [] : known.certificates;
  const served = new Map(
    all.flatMap(each => (each.kind === 'served' ? [[each.name, each] as const] : [])),
  );
  const shown = hosts.map(each => ({
    ...factsOf(served.get(each.secret)),
    ...each,
    ...places.get(each.host),
  }));
  const ofHosts = new Set(hosts.map(({ secret }) => secret));
  const isOther = ({ kind, name }: ListedCertificate) => kind !== 'served' || !ofHosts.has(name);
  const others = 'error' in known ? known : { certificates: all.filter(isOther) };
  return { hosts: shown.sort((a, b) => (endOf(a) < endOf(b) ? -1 : 1)), others };
}

function factsOf(listed: ListedCertificate | undefined) {
  if (listed === undefined) return {};
  const { ends, serial } = listed;
  return { facts: { notAfter: new Date(ends).toISOString(), issuer: '', serial } };
}

function endOf({ facts }: HostCertificate): string {
  return facts?.notAfter ?? '~';
}
