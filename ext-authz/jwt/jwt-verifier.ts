import { UnsecuredJWT } from 'jose';
import type { JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import type { DocumentOptions } from '#ext-authz/provider/cached-document.ts';
import { openHttpClient } from '#ext-authz/provider/http-client.ts';
import { openKeys } from '#ext-authz/provider/provider-documents.ts';
import { type SignatureFault, verifySignature } from '#ext-authz/provider/signed-jwt.ts';
import {
  type KeySource,
  toVerified,
  type VerifiedToken,
  VerifiedTokens,
  type VerifiedTokensOptions,
} from './verified-tokens.ts';

/**
 * Verifies the tokens of one JWT filter; a token that is known costs no promise. Rejects with a
 * ProviderError when the keys cannot be had.
 */
export type JwtVerifier = {
  readonly verify: (
    raw: string,
  ) => VerifiedToken | SignatureFault | Promise<VerifiedToken | SignatureFault>;
  /** Asks for the keys, where there are any. Rejects with a ProviderError. */
  readonly look: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type JwtVerifierOptions = VerifiedTokensOptions & Pick<DocumentOptions, 'heard'>;

/**
 * By the keys at `jwksURI`. A token without signature is one only where `validAlgorithms` has
 * `none`; with `none` alone nobody is asked.
 */
export function openJwtVerifier(settings: JwtSettings, options: JwtVerifierOptions): JwtVerifier {
  const { jwksURI, maxStale, validAlgorithms } = settings;
  const signed = validAlgorithms.filter(algorithm => algorithm !== 'none');
  const unsecured = signed.length < validAlgorithms.length;
  if (jwksURI === undefined || signed.length === 0)
    return {
      verify: raw => readUnsecured(raw) ?? 'algorithm',
      look: async () => {},
      close: async () => {},
    };
  const client = openHttpClient(settings);
  const { heard, now } = options;
  const document = openKeys(client, jwksURI, { maxStale, now, ...(heard && { heard }) });
  const source: KeySource = {
    verify: (jwt, signal) => verifySignature(jwt, signed, document, signal),
    keySet: signal => document.get(signal),
    knownKeySet: () => document.known(),
  };
  const tokens = new VerifiedTokens(source, options);
  return {
    verify: raw => (unsecured ? readUnsecured(raw) : undefined) ?? tokens.verify(raw),
    look: async signal => void (await document.probe(signal)),
    close: client.close,
  };
}

/**
 * An Unsecured JWT (RFC 7519 section 6); undefined: it is none. jose's judgement of times is put
 * aside: `claimFault` has it.
 */
function readUnsecured(raw: string): VerifiedToken | undefined {
  if (!raw.endsWith('.')) return undefined;
  try {
    const { header, payload } = UnsecuredJWT.decode(raw, {
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    return toVerified({ raw, header: { ...header }, claims: payload });
  } catch {
    return undefined;
  }
}
