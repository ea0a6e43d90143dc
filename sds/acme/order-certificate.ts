import type { Authorization, Client } from 'acme-client';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import { checkCertificateName } from '#certificates/check-name.ts';
import { checkKeyPair } from '#certificates/check-pair.ts';
import { errorsOf } from '#certificates/finding.ts';
import { type AcmeLibrary, acmeClient } from './acme-library.ts';
import { CHALLENGES, type Challenge, type ChallengeType } from './acme-record.ts';
import type { AcmeSettings } from './acme-settings.ts';
import { AuthorityError, failureOf } from './authority-error.ts';

export type CertificateOrder = {
  readonly acme: AcmeLibrary;
  readonly settings: AcmeSettings;
  /** PEM. */
  readonly accountKey: string;
  /** How the name is proved, when the authority offers that. */
  readonly wanted: ChallengeType;
  /** Resolves when every proxy of the edge can show the proof. */
  prove(challenge: Challenge): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
};

/**
 * Orders a certificate with a new key (RFC 8555, section 7.4).
 * @throws AuthorityError
 */
export async function orderCertificate(order: CertificateOrder): Promise<KeyPair> {
  const { accountKey, acme, settings } = order;
  try {
    const client = acmeClient(acme, settings.directory, accountKey);
    const pair = await orderBy(client, order);
    const wrong = wrongIn(pair, order);
    if (wrong === undefined) return pair;
    throw new AuthorityError(`what it issued cannot be used: ${wrong}`, { kind: 'refused' });
  } catch (error) {
    throw failureOf(error);
  }
}

/**
 * Has the authority say that a certificate must not be trusted any more (RFC 8555, section 7.6).
 * One that it has revoked before is no error.
 * @throws AuthorityError
 */
export async function revokeCertificate(
  { accountKey, acme, settings }: Pick<CertificateOrder, 'accountKey' | 'acme' | 'settings'>,
  certificate: string,
): Promise<void> {
  try {
    const client = acmeClient(acme, settings.directory, accountKey);
    await client.createAccount({ onlyReturnExisting: true });
    await client.revokeCertificate(certificate);
  } catch (error) {
    throw failureOf(error);
  }
}

/** What cannot be served would be ordered again and again. */
function wrongIn({ certificate, key }: KeyPair, { now, settings }: CertificateOrder) {
  const findings = checkKeyPair(certificate, key, now(), 'server');
  const [name] = checkCertificateName(certificate, settings.hostname);
  return errorsOf(findings) ?? name?.message;
}

async function orderBy(client: Client, order: CertificateOrder): Promise<KeyPair> {
  const { acme, settings } = order;
  const { email, hostname } = settings;
  await client.createAccount({ termsOfServiceAgreed: true, contact: [`mailto:${email}`] });
  const opened = await client.createOrder({ identifiers: [{ type: 'dns', value: hostname }] });
  const authorizations: unknown = opened.authorizations;
  // Each costs a request, and one name needs one.
  if (!Array.isArray(authorizations) || authorizations.length !== 1)
    throw new Error('the order of one name does not have one authorization');
  const [authorization] = await client.getAuthorizations(opened);
  if (authorization !== undefined && authorization.status !== 'valid')
    await prove(client, authorization, order);
  const ecdsa = await acme.crypto.createPrivateEcdsaKey();
  const [key, request] = await acme.crypto.createCsr({ altNames: [hostname] }, ecdsa);
  const finalized = await client.finalizeOrder(opened, request);
  const certificate = await client.getCertificate(finalized);
  return { certificate: String(certificate), key: key.toString() };
}

/** RFC 8555, section 8.1. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

async function prove(
  client: Client,
  { challenges }: Authorization,
  { prove: show, wanted }: CertificateOrder,
): Promise<void> {
  const known = challenges.filter(({ type }) => CHALLENGES.some(each => each === type));
  const challenge = known.find(({ type }) => String(type) === wanted) ?? known[0];
  if (challenge === undefined)
    throw new AuthorityError('it offers neither http-01 nor tls-alpn-01', { kind: 'refused' });
  const { token } = challenge;
  if (!TOKEN.test(token)) throw new Error('its token is not base64url');
  const keyAuthorization = await client.getChallengeKeyAuthorization(challenge);
  await show({ type: String(challenge.type) as ChallengeType, token, keyAuthorization });
  await client.completeChallenge(challenge);
  await client.waitForValidStatus(challenge).catch((error: Error) => {
    if (error instanceof AuthorityError) throw error;
    throw new AuthorityError(error.message, { kind: 'refused' });
  });
}
