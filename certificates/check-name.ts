import { X509Certificate } from 'node:crypto';
import { type Finding, warningFinding } from './finding.ts';

/**
 * Whether clients take the first certificate of a chain (PEM) for that of `hostname`, which may be `*.example.com`; `*` is no name, and every certificate will do.
 * Source: RFC 9110, section 4.3.4; RFC 6125, section 6.4.3 (a wildcard stands for one label).
 */
export function checkCertificateName(chainPem: string, hostname: string): readonly Finding[] {
  if (hostname === '*') return [];
  const leaf = new X509Certificate(chainPem);
  const isFor = hostname.startsWith('*.')
    ? (leaf.subjectAltName ?? '').toLowerCase().split(', ').includes(`dns:${hostname}`)
    : leaf.checkHost(hostname, { subject: 'never' }) !== undefined;
  if (isFor) return [];
  const names = (leaf.subjectAltName ?? 'no name').slice(0, MOST_SHOWN);
  return [
    warningFinding(`the certificate is not for ${hostname}, so clients will refuse it: it is for ${names}`),
  ];
}

const MOST_SHOWN = 200;
