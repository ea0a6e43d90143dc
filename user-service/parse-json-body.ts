import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * Parses the JSON object of a request. Throws HttpError 415 unless the type is application/json (a
 * charset, when named, must be UTF-8, RFC 8259 section 8.1) without a content coding. Throws 400
 * unless the bytes are UTF-8, JSON and an object.
 */
export function parseJsonBody(
  headers: Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>,
  body: Uint8Array,
): Readonly<Record<string, unknown>> {
  checkContentType(headers['content-type'] ?? '');
  if (!['', 'identity'].includes(headers['content-encoding'] ?? '')) {
    throw new HttpError(415, 'the body must not have a Content-Encoding', {
      'Accept-Encoding': 'identity',
    });
  }
  const value = parseJson(body);
  if (!isObject(value)) throw new HttpError(400, 'the body must be a JSON object');
  return value;
}

function checkContentType(contentType: string): void {
  const [type = '', ...parameters] = contentType.split(';').map(part => part.trim().toLowerCase());
  if (type !== 'application/json')
    throw new HttpError(415, 'Content-Type must be application/json');
  const charset = parameters
    .find(parameter => parameter.startsWith('charset='))
    ?.slice('charset='.length);
  if (charset !== undefined && !['utf-8', '"utf-8"'].includes(charset)) {
    throw new HttpError(415, 'the charset of the body must be utf-8');
  }
}

/** Hides the parser's own message and the text, because they may hold a password. */
function parseJson(body: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new HttpError(400, 'the body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(
      400,
      text.trim() === '' ? 'the body is empty' : 'the body is not valid JSON',
    );
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
