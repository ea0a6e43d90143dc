import * as z from 'zod';
import { parseHeaderName } from '#resources/words/http-token.ts';
import { checkWith, type Parsed } from '#resources/words/parsed-string.ts';
import {
  CREDENTIAL_HEADERS,
  FRAMING_HEADERS,
  GRPC_HEADERS,
  isReserved,
} from '#resources/words/reserved-headers.ts';
import { parseTemplate, type TemplateUse } from './template.ts';

/**
 * Fields by which the gateway or Envoy decides, or that hold credentials. A name that ends
 * in `*` stands for all with that prefix.
 */
const FILTER_REQUEST = [
  ...FRAMING_HEADERS,
  ...CREDENTIAL_HEADERS,
  ':*',
  'cookie',
  'x-envoy-*',
  'x-forwarded-*',
  'x-request-id',
];

const REQUEST = [...FILTER_REQUEST, 'content-type', 'set-cookie'];

const ERROR_RESPONSE = [...FRAMING_HEADERS, ':*', ...GRPC_HEADERS, 'set-cookie', 'x-envoy-*'];

const RESPONSE = [...ERROR_RESPONSE, 'content-type'];

/** Headers added to the request. Names are in lower case. */
export const requestHeaders = headerTemplates(REQUEST, 'limit');

/** Headers added to the response, the upstream's or a 429. Names are in lower case. */
export const responseHeaders = headerTemplates(RESPONSE, 'limit');

/** Headers added to the error response alone. Names are in lower case. */
export const errorHeaders = headerTemplates(ERROR_RESPONSE, 'limit');

/** Headers that a Filter sets on the request before it goes upstream. Names are in lower case. */
export const filterHeaders = headerTemplates(FILTER_REQUEST, 'Filter');

/** Headers of a Filter's own error response. Names are in lower case. */
export const filterErrorHeaders = headerTemplates(ERROR_RESPONSE, 'Filter');

export type HeaderTemplate = z.output<typeof filterHeaders>[number];

function headerTemplates(refused: readonly string[], owner: 'limit' | 'Filter') {
  const name = z
    .string()
    .check(checkWith(text => parseName(text, refused, owner)))
    .describe('Name of the header');
  const value = z
    .string()
    .check(checkWith(parseValue))
    .describe('Go text/template of its value. Line breaks at its end are cut');
  return z.array(z.object({ name, value })).default([]);
}

function parseName(text: string, refused: readonly string[], owner: string): Parsed<string> {
  const name = parseHeaderName(text);
  if ('error' in name) return name;
  if (!isReserved(name.value, refused)) return name;
  const hint =
    owner === 'limit' && isReserved(name.value, ['content-type'])
      ? '. That of an error response belongs in `errorResponse.headers`'
      : '';
  return { error: `a ${owner} may not set the header "${text}"${hint}` };
}

/** Cuts line breaks at the end, which a block scalar of YAML leaves there. */
function parseValue(text: string): Parsed<string> {
  const value = text.replace(/[\r\n]+$/, '');
  const parsed = checkTemplate(value, 'header');
  if ('error' in parsed) return parsed;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there (RFC 9110 section 5.5)
  const broken = !value.includes('{{') && /[\x00-\x08\x0a-\x1f\x7f]/.test(value);
  return broken
    ? { error: 'a header value has no line breaks and no other control characters' }
    : { value };
}

/** A template of the error response's body. */
export const bodyTemplate = z.string().check(checkWith(text => checkTemplate(text, 'body')));

/**
 * Checks the text of a template that Go would parse. The error has Go's words, without its place
 * for a name.
 */
function checkTemplate(text: string, use: TemplateUse): Parsed<string> {
  const parsed = parseTemplate(text, use);
  if ('value' in parsed) return { value: text };
  return { error: `Cannot parse template: ${parsed.error.replace(/^template: :(?=\d)/, 'line ')}` };
}
