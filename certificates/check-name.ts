import { type Finding, warningFinding } from './finding.ts';
import { parseCertificates } from './pem.ts';

/**
 * Checks whether clients accept the first certificate of a chain (PEM) for `hostname`. That may be
 * `*.example.com`. `*` is no name, so every certificate will do. A text that is no chain at all is
 * checked elsewhere.
 * See RFC 9110, section 4.3.4, and RFC 6125, section 6.4.3 (a wildcard stands for one label).
 */
export function checkCertificateName(chainPem: string, hostname: string): readonly Finding[] {
  if (hostname === '*') return [];
  const chain = parseCertificates(chainPem, { bytes: chainPem.length, count: MOST_CERTIFICATES });
  const leaf = 'error' in chain ? undefined : chain.certificates[0];
  if (leaf === undefined) return [];
  const isFor = hostname.startsWith('*.')
    ? (leaf.subjectAltName ?? '').toLowerCase().split(', ').includes(`dns:${hostname}`)
    : leaf.checkHost(hostname, { subject: 'never' }) !== undefined;
  if (isFor) return [];
  const names = (leaf.subjectAltName ?? 'no name').slice(0, MOST_SHOWN);
  return [
    warningFinding(
      `the certificate is not for ${hostname}, so clients will refuse it: it is for ${names}`,
    ),
  ];
}

const MOST_CERTIFICATES = 100;
const MOST_SHOWN = 200;
