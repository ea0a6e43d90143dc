/**
 * Signatures by a private key, and by a secret that both sides share. See RFC 7518, section 3.1.
 */
export const PUBLIC_KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
] as const;
export const SHARED_SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;
