import * as z from 'zod';
import { SecretValue } from '#resources/words/secret-value.ts';

const PEM = [...new TextEncoder().encode('-----BEGIN ')];

/** Where a cluster secret holds the client secret (docs/reference/kinds/filter.md). */
export const CLIENT_SECRET_KEY = 'oauth2-client-secret';

/** A client secret that stands in the Filter itself. */
export const clientSecret = z
  .string()
  .min(1)
  .meta({ form: 'a string', secret: true })
  .transform(text => new SecretValue(new TextEncoder().encode(text)));

/**
 * Returns the secret without one line break at its end, which editors and YAML's block scalars
 * leave there. `cut` asks for a warning. PEM always ends with a line break (RFC 7468), so it causes
 * no warning.
 */
export function cutLineBreak(secret: SecretValue): {
  readonly secret: SecretValue;
  readonly cut: boolean;
} {
  const bytes = secret.reveal();
  if (bytes.at(-1) !== 0x0a) return { secret, cut: false };
  const end = bytes.at(-2) === 0x0d ? -2 : -1;
  return {
    secret: new SecretValue(bytes.subarray(0, end)),
    cut: !PEM.every((byte, at) => bytes[at] === byte),
  };
}
