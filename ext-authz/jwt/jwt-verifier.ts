import { UnsecuredJWT } from 'jose';
import type { JwtSettings } from '#ext-authz/policy/filter-settings.ts';
import type { DocumentOptions } from '#ext-authz/provider/cached-document.ts';
import { openHttpClient } from '#ext-authz/provider/http-client.ts';
import type { KeySet } from '#ext-authz/provider/key-set.ts';
import { openKeys } from '#ext-authz/provider/provider-documents.ts';
import { type SignatureFault, verifySignature } from '#ext-authz/provider/signed-jwt.ts';
import { tracedHttpClient } from '#ext-authz/provider/traced-http-client.ts';
import type { Traces } from '#process/traces/traces.ts';
import {
  type KeySource,
  toVerified,
  type VerifiedToken,
  VerifiedTokens,
  type VerifiedTokensOptions,
} from './verified-tokens.ts';

/**
 * Verifies the tokens of one JWT filter. A known token costs no promise. Rejects with a
 * ProviderError when the keys are not available.
 */
export type JwtVerifier = {
  readonly verify: (
    raw: string,
  ) => VerifiedToken | SignatureFault | Promise<VerifiedToken | SignatureFault>;
  /** Asks for the keys, if there are any. Rejects with a ProviderError. */
  readonly look: (signal: AbortSignal) => Promise<void>;
  /** Returns the keys that were known last, without asking. */
  readonly knownKeySet: () => KeySet | undefined;
  /**
   * Returns the keys that count now, as JSON (RFC 7517), each for one algorithm. Asks for them as a
   * token would. Rejects with a ProviderError.
   * @returns undefined where no token is verified by a key
   */
  readonly signingKeys: (signal: AbortSignal) => Promise<SigningKeys | undefined>;
  readonly close: () => Promise<void>;
};

export type SigningKeys = { readonly jwksURI: string; readonly keys: readonly string[] };

export type JwtVerifierOptions = VerifiedTokensOptions &
  Pick<DocumentOptions, 'heard'> & {
    /** Undefined when calls are not traced. */
    readonly traces?: Traces | undefined;
  };

/**
 * Verifies by the keys at `jwksURI`. A token without signature is valid only where
 * `validAlgorithms` has `none`. With `none` alone no provider is asked.
 */
export function openJwtVerifier(settings: JwtSettings, options: JwtVerifierOptions): JwtVerifier {
  const { jwksURI, maxStale, validAlgorithms } = settings;
  const signed = validAlgorithms.filter(algorithm => algorithm !== 'none');
  const unsecured = signed.length < validAlgorithms.length;
  if (jwksURI === undefined || signed.length === 0)
    return {
      verify: raw => readUnsecured(raw) ?? 'algorithm',
      look: async () => {},
      knownKeySet: () => undefined,
      signingKeys: async () => undefined,
      close: async () => {},
    };
  const { heard, now, traces } = options;
  const client = tracedHttpClient(openHttpClient(settings), traces);
  const document = openKeys(client, jwksURI, { maxStale, now, ...(heard && { heard }) });
  const source: KeySource = {
    verify: (jwt, signal) => verifySignature(jwt, signed, document, signal),
    keySet: signal => document.get(signal),
    knownKeySet: () => document.known(),
  };
  const { knownKeySet } = source;
  const tokens = new VerifiedTokens(source, options);
  return {
    verify: raw => (unsecured ? readUnsecured(raw) : undefined) ?? tokens.verify(raw),
    look: async signal => void (await document.probe(signal)),
    knownKeySet,
    signingKeys: async signal => {
      const keys = await (await document.get(signal)).exported(signed);
      return { jwksURI, keys };
    },
    close: client.close,
  };
}

/**
 * Reads an Unsecured JWT (RFC 7519 section 6). The judgement of times by jose is ignored, because
 * `claimFault` judges them.
 * @returns undefined when it is not an Unsecured JWT
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
