import type { IncomingHttpHeaders } from 'node:http';

/**
 * The user who is logged in, as the gateway's headers say. The gateway accepts those headers from
 * no client.
 */
export type AccountHolder = {
  readonly username: string;
  readonly fullname: string;
  readonly email: string;
  /** What the login allows, separated by spaces. */
  readonly scope: string;
};

/**
 * Returns the user whom the headers X-User, X-User-Name, X-User-Email and X-User-Scope name.
 * @returns undefined when no filter of the gateway has set them
 */
export function accountHolder(headers: IncomingHttpHeaders): AccountHolder | undefined {
  const read = (name: string) => decode(headers[name]);
  const username = read('x-user');
  if (username === '') return undefined;
  return {
    username,
    fullname: read('x-user-name'),
    email: read('x-user-email'),
    scope: read('x-user-scope'),
  };
}

/** Node reads header fields as latin1, and the gateway sends UTF-8. */
function decode(field: string | readonly string[] | undefined): string {
  return typeof field === 'string' ? Buffer.from(field, 'latin1').toString('utf8') : '';
}
