import { type ProviderAnswer, placeOf } from './http-client.ts';
import { ProviderError } from './provider-error.ts';

export type JsonObject = { readonly [name: string]: unknown };

/** What was asked, for errors. */
type Asked = { readonly what: string; readonly url: string };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses the JSON of an answer whose media type is `application/json` or ends in `+json`, in any
 * case. Throws a ProviderError `invalid_answer` for any other. Of a member that is repeated the
 * last counts (RFC 8259 section 4).
 */
export function readJson(answer: ProviderAnswer, asked: Asked): unknown {
  if (!hasJsonType(answer.headers)) {
    throw new ProviderError(
      'invalid_answer',
      `${placeOf(asked)}: the answer's Content-Type is not application/json`,
      answer,
    );
  }
  return readDocument(answer, asked);
}

/**
 * Parses the JSON of a published document, whatever its media type. Key sets are often files of a
 * static site, `text/plain` or without a type.
 */
export function readDocument(answer: ProviderAnswer, asked: Asked): unknown {
  const value = parseJson(answer.text);
  if (value === undefined)
    throw new ProviderError(
      'invalid_answer',
      `${placeOf(asked)}: the answer is not JSON, or it is nested more than ${DEEPEST} deep`,
      answer,
    );
  return value;
}

/** What is nested thousands deep can be read, but overflows the stack of what writes it again. */
const DEEPEST = 200;

/** @returns undefined when it is not JSON, or nested too deep to be used */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeper(value, DEEPEST) ? undefined : value;
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some(item => isDeeper(item, most - 1));
}

export function mediaTypeOf(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function hasJsonType(headers: Headers): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(mediaTypeOf(headers));
}
