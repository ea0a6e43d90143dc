import * as z from 'zod';
import { caution, type FieldPath, type Finding } from '#resources/finding.ts';
import { checkLogToken } from '#resources/format/log-format.ts';
import { LOG_TOKEN } from '#resources/format/log-operator.ts';
import { integer } from '#resources/words/number-types.ts';
import { checkedString, checkWith, type Parsed } from '#resources/words/parsed-string.ts';
import { SECRET_HEADERS } from '#resources/words/reserved-headers.ts';
import { isMarkup, isSilentOnMapping } from './error-body.ts';

/**
 * Bound of all overrides together. Each Host with TLS has them in its part of the edge's listener.
 */
const LONGEST = 16_384;

/**
 * The environment must not be sent away by an operator of resources. The others only Envoy can
 * check.
 */
const REFUSED: ReadonlySet<string> = new Set(['CEL', 'COALESCE', 'ENVIRONMENT', 'TYPED_CEL']);

/**
 * Operators that may repeat what a client sent, also by way of an answer or of what a filter kept.
 */
const OF_CLIENT: ReadonlySet<string> = new Set(
  `DYNAMIC_METADATA FILTER_STATE LOCAL_REPLY_BODY METADATA PATH QUERY_PARAM QUERY_PARAMS REQ
  REQUESTED_SERVER_NAME REQUEST_HEADER RESP RESPONSE_HEADER RESPONSE_TRAILER STREAM_INFO_REQ TRAILER
  XFCC_VALUE`.split(/\s+/),
);

/**
 * Headers with credentials. What Filters add to a request, such as an access token, does not come
 * from the client.
 */
const CREDENTIALS: ReadonlySet<string> = new Set(SECRET_HEADERS);

function parseBody(text: string): Parsed<string> {
  for (const token of text.matchAll(LOG_TOKEN)) {
    const [, name = '', params = ''] = token;
    const credential = params
      .split('?')
      .find(header => CREDENTIALS.has(header.trim().toLowerCase()));
    const rejected = REFUSED.has(name) ? name : credential;
    const error =
      rejected === undefined ? checkLogToken(token) : `\`${rejected}\` is not allowed in a body`;
    if (error !== undefined) return { error: `Cannot parse body: ${error}` };
  }
  return { value: text };
}

function parseContentType(text: string): Parsed<string> {
  if (/^[\w.+-]+\/[\w.+-]+(?: ?; ?[\w.-]+=[\w."-]+)*$/.test(text) && text.length <= 100)
    return { value: text };
  return { error: 'a content type is as `text/html; charset=utf-8`, of 100 characters at most' };
}

const text = z.string().check(checkWith(parseBody));

const body = z
  .object({
    text_format: text
      .min(1)
      .exactOptional()
      .describe("A text with Envoy's operators, such as `%RESPONSE_CODE%`. `%%` is a percent sign"),
    json_format: z
      .record(z.string(), text)
      .exactOptional()
      .meta({ form: 'a map from key to text' })
      .describe('JSON: key → text as in `text_format`'),
    text_format_source: z
      .unknown()
      .check(({ issues, value }) => {
        if (value !== undefined) issues.push({ code: 'custom', message: NO_FILES, input: value });
      })
      .exactOptional()
      .describe('Not served: the gateway reads no files that resources name'),
    content_type: checkedString('a content type', parseContentType)
      .exactOptional()
      .describe('Default: `text/plain`, with `json_format` `application/json`'),
  })
  .check(({ issues, value }) => {
    if ((value.text_format === undefined) === (value.json_format === undefined))
      issues.push({
        code: 'custom',
        message: 'write either `text_format` or `json_format`',
        input: value,
      });
  });

const NO_FILES =
  'the gateway reads no files that resources name: write what is in the file as `text_format: |`';

const item = z.object({
  on_status_code: integer(400, 599).describe('Status of the answers'),
  body: body.describe('What they have instead'),
});

/** Bodies that the operator gives to errors of the gateway. */
export const errorResponseOverrides = z
  .array(item)
  .check(({ issues, value }) => {
    const { length } = JSON.stringify(value);
    const message = `all overrides together have ${LONGEST} characters at most, not ${length}`;
    if (length > LONGEST) issues.push({ code: 'custom', message, input: value });
  })
  .meta({ droppable: true, lenient: true, form: 'a list of overrides' });

export type ErrorResponseOverride = z.output<typeof item>;

/** Warns of overrides that never count. */
export function checkRepeated(
  overrides: readonly ErrorResponseOverride[] = [],
  path: FieldPath,
): readonly Finding[] {
  const codes = overrides.map(({ on_status_code }) => on_status_code);
  return codes.flatMap((code, index) =>
    codes.indexOf(code) < index
      ? [caution([...path, index, 'on_status_code'], repeated(code))]
      : [],
  );
}

/** Warns of operators that only the Module has. */
export function checkSilent(
  overrides: readonly ErrorResponseOverride[] = [],
  path: FieldPath,
): readonly Finding[] {
  return overrides.flatMap(({ body }, index) => {
    const texts = [body.text_format ?? '', ...Object.values(body.json_format ?? {})];
    const tokens = texts.flatMap(text => [...text.matchAll(LOG_TOKEN)]);
    const silent = tokens.find(([token]) => isSilentOnMapping(token));
    const message = `\`${silent?.[1]}\` is always \`-\` on a Mapping. The Module has its value`;
    return silent === undefined ? [] : [caution([...path, index, 'body'], message)];
  });
}

/** Warns of what a client may write into a page. */
export function checkPages(
  overrides: readonly ErrorResponseOverride[] = [],
  path: FieldPath,
): readonly Finding[] {
  return overrides.flatMap(({ body }, index) =>
    checkHtml(body, [...path, index, 'body', 'text_format']),
  );
}

function repeated(code: number): string {
  return `the status ${code} has an override above, and the first counts`;
}

function checkHtml(
  { content_type = '', text_format = '' }: ErrorResponseOverride['body'],
  path: FieldPath,
) {
  if (!isMarkup(content_type)) return [];
  const names = [...text_format.matchAll(LOG_TOKEN)].map(([, name = '']) => name);
  const told = names.find(name => OF_CLIENT.has(name));
  if (told === undefined) return [];
  const message = `\`${told}\` may write what a client said into a page, and nothing escapes it: a link could run a script on this site`;
  return [caution(path, message)];
}
