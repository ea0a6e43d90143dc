import { HttpError } from './http-error.ts';

type Body = Readonly<Record<string, unknown>>;

const MAX_FULLNAME = 256;
const MAX_PASSWORD = 1024;

/**
 * Parses `fullname` (1 to 256 characters) and `password` of a PUT. Other fields are ignored. Throws
 * HttpError 400.
 */
export function parseUser(body: Body): { readonly fullname: string; readonly password: string } {
  return { fullname: parseText(body, 'fullname', MAX_FULLNAME), password: parsePassword(body) };
}

/** Parses `password` (1 to 1024 characters). Other fields are ignored. Throws HttpError 400. */
export function parsePassword(body: Body): string {
  return parseText(body, 'password', MAX_PASSWORD);
}

/**
 * A character is a Unicode code point, so that one letter counts once also outside of the basic
 * plane.
 */
function parseText(body: Body, field: string, max: number): string {
  const value = Object.hasOwn(body, field) ? body[field] : undefined;
  if (value === undefined) throw new HttpError(400, `"${field}" is missing`);
  if (typeof value !== 'string') throw new HttpError(400, `"${field}" must be a string`);
  const length = Array.from(value).length;
  if (length < 1 || length > max)
    throw new HttpError(400, `"${field}" must have 1 to ${max} characters`);
  // PostgreSQL stores no U+0000. A lone surrogate has no UTF-8, so two different texts would become
  // one.
  if (value.includes('\0')) throw new HttpError(400, `"${field}" must not contain U+0000`);
  if (!value.isWellFormed())
    throw new HttpError(400, `"${field}" contains half of a surrogate pair`);
  return value;
}
