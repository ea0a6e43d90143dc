import * as z from 'zod';
import { parseHeaderName } from './http-token.ts';
import { checkWith, type Parsed } from './parsed-string.ts';
import { parseTemplate } from './template/template.ts';

/** Fields of one connection, or that frame a message (RFC 9110 sections 7.6.1 and 8.6, RFC 9112): the proxies' own. */
const FRAMING = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Fields by which the gateway or Envoy decides, or in which credentials are. A name that ends in `*` stands for all that begin so. */
const REQUEST = [
  ...FRAMING,
  ':*',
  'content-type',
  'cookie',
  'set-cookie',
  'x-envoy-*',
  'x-forwarded-*',
  'x-gateway-client-assertion',
  'x-gateway-client-id',
  'x-gateway-client-secret',
  'x-gateway-password',
  'x-gateway-username',
  'x-request-id',
];

/** In a response; with `grpc-status` beside that of the upstream a failed call might seem to have succeeded. */
const ERROR_RESPONSE = [
  ...FRAMING,
  ':*',
  'grpc-message',
  'grpc-status',
  'grpc-status-details-bin',
  'set-cookie',
  'x-envoy-*',
];

const RESPONSE = [...ERROR_RESPONSE, 'content-type'];

/** Headers added to the request. Names are in lower case. */
export const requestHeaders = headerTemplates(REQUEST);

/** Headers added to the response, the upstream's or a 429. Names are in lower case. */
export const responseHeaders = headerTemplates(RESPONSE);

/** Headers added to the error response alone. Names are in lower case. */
export const errorHeaders = headerTemplates(ERROR_RESPONSE);

function headerTemplates(refused: readonly string[]) {
  const name = z
    .string()
    .check(checkWith(text => parseName(text, refused)))
    .describe('Name of the header');
  const value = z
    .string()
    .check(checkWith(parseValue))
    .describe('Go text/template of its value; line breaks at its end are cut');
  return z.array(z.object({ name, value })).default([]);
}

/** Applications may take `_` for `-` (CGI does, RFC 3875 section 4.1.18), so a refused name may not be spelt so either. */
function parseName(text: string, refused: readonly string[]): Parsed<string> {
  const name = parseHeaderName(text);
  if ('error' in name) return name;
  const plain = name.value.replaceAll('_', '-');
  const own = refused.some(rule =>
    rule.endsWith('*') ? plain.startsWith(rule.slice(0, -1)) : plain === rule,
  );
  if (!own) return name;
  const hint =
    plain === 'content-type' ? '; that of an error response stands in `errorResponse.headers`' : '';
  return { error: `a limit may not set the header "${text}"${hint}` };
}

/** Cuts line breaks at the end, which a block scalar of YAML leaves there. */
function parseValue(text: string): Parsed<string> {
  const value = text.replace(/[\r\n]+$/, '');
  const parsed = parseTemplate(value, 'header');
  if ('error' in parsed) return parsed;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there (RFC 9110 section 5.5)
  const broken = !value.includes('{{') && /[\x00-\x08\x0a-\x1f\x7f]/.test(value);
  return broken ? { error: 'a header value has no line breaks and no other control characters' } : { value };
}

/** A template of the error response's body. */
export const bodyTemplate = z.string().check(
  checkWith(text => {
    const parsed = parseTemplate(text, 'body');
    return 'error' in parsed ? parsed : { value: text };
  }),
);
