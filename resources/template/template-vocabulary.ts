import { caution, type FieldPath, type Finding } from '#resources/finding.ts';
import { repeats } from '#resources/words/repeats.ts';
import { nearest } from '#resources/words/suggest.ts';
import type { HeaderTemplate } from './header-template.ts';
import { parseTemplate, type TemplateUse } from './template.ts';
import { unknownFields, type Vocabulary } from './unknown-fields.ts';

const TOKEN = { Raw: 'open', Header: 'open', Claims: 'open', Signature: 'open' } as const;

/** A text or a number has no fields. A template that reads one fails. */
const PLAIN = {} as const;

const ERROR = { status_code: PLAIN, message: PLAIN, request_id: PLAIN } as const;

/** The data of `injectRequestHeaders` of a JWT filter. */
export const JWT_DATA = { token: TOKEN, httpRequestHeader: 'open' } as const;

/** The same of an OAuth2 filter. */
export const OAUTH2_DATA = { ...JWT_DATA, idToken: TOKEN } as const;

/** The data of a JWT filter's `errorResponse`. */
export const JWT_ERROR_DATA = { ...ERROR, error: PLAIN } as const;

const STATUS = {
  Code: 'open',
  CurrentLimit: { Name: 'open', RequestsPerUnit: 'open', Unit: 'open' },
  LimitRemaining: 'open',
  DurationUntilReset: 'open',
} as const;

/** The data of a limit's `injectRequestHeaders` and `injectResponseHeaders`. */
export const LIMIT_DATA = {
  RateLimitResponse: { OverallCode: 'open', Statuses: [STATUS] },
  RetryAfter: 'open',
} as const;

/** The data of a limit's `errorResponse`. */
export const LIMIT_ERROR_DATA = { ...LIMIT_DATA, ...ERROR } as const;

/** Returns a warning for each field that the template reads and its data never has. */
function checkTemplateFields(
  text: string,
  use: TemplateUse,
  data: Vocabulary,
  path: FieldPath,
): readonly Finding[] {
  const parsed = text.includes('{{') ? parseTemplate(text, use) : undefined;
  if (parsed === undefined || 'error' in parsed) return [];
  return unknownFields(parsed.value, data).map(({ path: field, known }) => {
    const above = field.slice(0, field.lastIndexOf('.'));
    const all = known.map(name => `\`${above}.${name}\``).join(', ');
    const near = nearest(field.slice(above.length + 1), known);
    const there = known.length === 0 ? 'a text has no fields' : `there are ${all}`;
    const hint = near === undefined ? there : `did you mean \`${above}.${near}\`?`;
    return caution(path, `the template reads \`${field}\`, which is never there: ${hint}`);
  });
}

/** Returns the same for the values of headers, and a warning for each header that is set twice. */
export function checkHeaders(
  headers: readonly HeaderTemplate[],
  data: Vocabulary,
  path: FieldPath,
): readonly Finding[] {
  const fields = headers.flatMap(({ value }, index) =>
    checkTemplateFields(value, 'header', data, [...path, index, 'value']),
  );
  return [...checkRepeatedHeaders(headers, path), ...fields];
}

/** Returns a warning for each header that stands in a list a second time. */
function checkRepeatedHeaders(
  headers: readonly HeaderTemplate[],
  path: FieldPath,
): readonly Finding[] {
  return repeats(headers.map(({ name }) => name)).map(index =>
    caution(
      [...path, index, 'name'],
      `the header "${headers[index]?.name}" is set twice. The first counts`,
    ),
  );
}

/** Returns what is odd in the answer of a limit or a JWT filter to a rejected request. */
export function checkErrorResponse(
  response:
    | { readonly headers: readonly HeaderTemplate[]; readonly bodyTemplate: string }
    | undefined,
  data: Vocabulary,
  path: FieldPath,
): readonly Finding[] {
  if (response === undefined) return [];
  return [
    ...checkHeaders(response.headers, data, [...path, 'headers']),
    ...checkTemplateFields(response.bodyTemplate, 'body', data, [...path, 'bodyTemplate']),
  ];
}
