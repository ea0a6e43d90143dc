import { X509Certificate } from 'node:crypto';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import { checkCertificateName } from '#certificates/check-name.ts';
import { checkKeyPair } from '#certificates/check-pair.ts';
import { errorsOf } from '#certificates/finding.ts';
import type { KeptSecret } from '../secrets/kept-secret.ts';
import { type AcmeRecord, parseRecord } from './acme-record.ts';
import type { Validity } from './next-step.ts';

/** A certificate that is kept. */
export type KeptPair = KeyPair & {
  readonly validity: Validity;
  /** In lower case. */
  readonly serial: string;
};

/** What is kept of the certificate of one Host. */
export type KeptCertificate = {
  /** Undefined: there is none yet. */
  readonly pair: KeptPair | undefined;
  readonly record: AcmeRecord;
  /** The version for the next write. Undefined: nothing is there. */
  readonly mark: string | undefined;
  readonly texts: Readonly<Record<string, string>>;
};

const CERTIFICATE = 'tls.crt';
const KEY = 'tls.key';
const RECORD = 'acme.json';

/**
 * Reads what is kept for a hostname.
 * @throws an Error when it is something else, which must not be replaced
 */
export async function readKept(
  kept: KeptSecret,
  hostname: string,
  now: number,
): Promise<KeptCertificate> {
  const found = await kept.read();
  const { mark, texts = {} } = found ?? {};
  const { [CERTIFICATE]: certificate = '', [KEY]: key = '', [RECORD]: record } = texts;
  const isEmpty = certificate === '' && key === '';
  const isCertificate = errorsOf(checkKeyPair(certificate, key, now)) === undefined;
  const isOfHost = isCertificate && checkCertificateName(certificate, hostname).length === 0;
  // Such as the certificate of another Host, or the keys of the gateway itself.
  if (found !== undefined && record === undefined && !isOfHost)
    throw new Error(`${kept.place} holds something else than a certificate for ${hostname}`);
  const pair = isEmpty || !isOfHost ? undefined : { certificate, key, ...factsOf(certificate) };
  return { pair, record: parseRecord(record), mark, texts };
}

/**
 * Writes a record, and a certificate when there is a new one.
 * @returns false when another process was faster
 */
export function writeKept(
  kept: KeptSecret,
  { mark, texts }: Pick<KeptCertificate, 'mark' | 'texts'>,
  record: AcmeRecord,
  pair?: KeyPair,
): Promise<boolean> {
  // The type of the Secret wants both, even while they are empty.
  const { [CERTIFICATE]: certificate = '', [KEY]: key = '' } = texts;
  const { certificate: newest = certificate, key: newestKey = key } = pair ?? {};
  const next = { [CERTIFICATE]: newest, [KEY]: newestKey, [RECORD]: JSON.stringify(record) };
  return kept.write({ ...texts, ...next }, mark);
}

function factsOf(certificate: string): Pick<KeptPair, 'serial' | 'validity'> {
  const { serialNumber, validFromDate, validToDate } = new X509Certificate(certificate);
  const validity = { start: validFromDate.getTime(), end: validToDate.getTime() };
  return { serial: serialNumber.toLowerCase(), validity };
}
