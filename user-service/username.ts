import { HttpError } from './http-error.ts';

const USERNAME = /^[A-Za-z0-9._@-]{1,64}$/;
/**
 * `health` is the health path. Dot segments (RFC 3986 section 5.2.4) are resolved before a request
 * gets here.
 */
const RESERVED: ReadonlySet<string> = new Set(['health', '.', '..']);

/**
 * Parses the username of a decoded path segment: 1 to 64 ASCII letters, digits, `.`, `_`, `-`, `@`.
 * Letter case counts. Throws HttpError 400 for anything else and for a reserved name.
 */
export function parseUsername(segment: string): string {
  if (RESERVED.has(segment))
    throw new HttpError(400, `"${segment}" is reserved and cannot be a username`);
  if (!USERNAME.test(segment)) {
    throw new HttpError(400, 'a username is 1 to 64 letters, digits, ".", "_", "-" or "@"');
  }
  return segment;
}
