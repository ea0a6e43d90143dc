import { hasCrl } from '#certificates/crl-problem.ts';
import { parseCertificates } from '#certificates/pem.ts';
import { parsePrivateKey } from '#certificates/private-key.ts';
import type { RedisTls } from './description.ts';
import { Unreadable } from './unreadable.ts';

/** The collections of operating systems have about 150 certificates in 220 KB. */
const MOST = { bytes: 1024 * 1024, count: 1_000 };

/**
 * Returns the content of the file that a variable names.
 * @returns undefined when the variable is not set
 */
export type ReadFileOf = (
  name: string,
) => { readonly path: string; readonly text: string } | undefined;

/**
 * Reads REDIS_CA_FILE, REDIS_CERT_FILE and REDIS_KEY_FILE, all PEM. Node takes a file without a
 * certificate for an empty list of authorities, and would then reject every server.
 * @returns undefined when none of them is set
 * @throws Unreadable, which names the variable, the file and what is wanted
 */
export function readTls(read: ReadFileOf): RedisTls | undefined {
  const [ca, cert, key] = [read('REDIS_CA_FILE'), read('REDIS_CERT_FILE'), read('REDIS_KEY_FILE')];
  if ((cert === undefined) !== (key === undefined))
    throw new Unreadable('REDIS_CERT_FILE and REDIS_KEY_FILE belong together: set both or none');
  if (ca !== undefined) checkAuthorities(ca);
  if (cert !== undefined && key !== undefined) checkPair(cert, key);
  if (ca === undefined && cert === undefined) return undefined;
  return {
    ...(ca && { ca: ca.text }),
    ...(cert && { cert: cert.text }),
    ...(key && { key: key.text }),
  };
}

type File = { readonly path: string; readonly text: string };

function certificatesOf(name: string, { path, text }: File, want: string) {
  const parsed = parseCertificates(text, MOST);
  if ('error' in parsed)
    throw new Unreadable(
      `${name}: cannot use the file "${path}": ${parsed.error}. Want ${want} in PEM`,
    );
  return parsed.certificates;
}

function checkAuthorities(ca: File): void {
  certificatesOf('REDIS_CA_FILE', ca, 'the authorities of the server');
  if (hasCrl(ca.text))
    throw new Unreadable(
      `REDIS_CA_FILE: cannot use the file "${ca.path}": revocation lists are not served here. Want the authorities of the server alone`,
    );
}

function checkPair(cert: File, key: File): void {
  const [certificate] = certificatesOf('REDIS_CERT_FILE', cert, 'the certificate of this client');
  const parsed = parsePrivateKey(key.text);
  if ('error' in parsed)
    throw new Unreadable(
      `REDIS_KEY_FILE: cannot use the file "${key.path}": ${parsed.error}. Want the key of REDIS_CERT_FILE in PEM`,
    );
  if (certificate?.checkPrivateKey(parsed.key)) return;
  throw new Unreadable(
    `REDIS_KEY_FILE: the key in "${key.path}" does not fit the first certificate in "${cert.path}" (REDIS_CERT_FILE). Want the two of one pair`,
  );
}
