import { createHash } from 'node:crypto';
import type { Message } from '#protos/decode-bytes.ts';
import { type ComparableForms, comparableForms } from '#resources/labels/label-meanings.ts';
import { canonicalPattern, type PatternLabel } from '#resources/labels/label-pattern.ts';
import { parseTemplate, type TemplateUse } from '#resources/template/template.ts';
import { parseHeaderName } from '#resources/words/http-token.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { Action, ErrorResponse, HeaderTemplate, Limit, Text } from './limit.ts';
import type { Unit } from './window.ts';

/**
 * `gateway.config.v1.Limit.Action` and `.Unit`. protobufjs gives them by number, ProtoJSON writes
 * them by word.
 */
const ACTIONS: ReadonlyMap<unknown, Action> = new Map<unknown, Action>([
  [0, 'Enforce'],
  ['ENFORCE', 'Enforce'],
  [1, 'LogOnly'],
  ['LOG_ONLY', 'LogOnly'],
]);
const UNITS: ReadonlyMap<unknown, Unit> = new Map<unknown, Unit>([
  [1, 'second'],
  ['SECOND', 'second'],
  [2, 'minute'],
  ['MINUTE', 'minute'],
  [3, 'hour'],
  ['HOUR', 'hour'],
  [4, 'day'],
  ['DAY', 'day'],
]);

/**
 * Parses the limits of a `gateway.config.v1.RateLimit`, in its order. The control plane has checked
 * it already. A template that does not parse, or an unknown unit, is an error that names limit and
 * field. The resource is then rejected as a whole.
 */
export function parseLimits(message: Message): Parsed<readonly Limit[]> {
  const domain = text(message.domain);
  if (domain === '') return { error: 'domain is empty' };
  const forms = comparableForms({
    hostKeys: texts(message.host_keys),
    pathKeys: texts(message.path_keys),
    prefixes: { ipv4: Number(message.ipv4_prefix || 32), ipv6: Number(message.ipv6_prefix || 128) },
  });
  return each(list(message.limits), (limit, index) => {
    const name = text(limit.name);
    if (name === '') return { error: `limits[${index}]: name is empty` };
    return within(`limit ${JSON.stringify(name)}`, parseLimit({ domain, name, forms }, limit));
  });
}

function parseLimit(
  named: Pick<Limit, 'domain' | 'name' | 'forms'>,
  message: Message,
): Parsed<Limit> {
  const action = ACTIONS.get(message.action ?? 0);
  if (action === undefined) return { error: `action ${message.action} is not known` };
  const unit = UNITS.get(message.unit);
  if (unit === undefined) return { error: `unit ${message.unit} is not known` };
  const pattern = each(list(message.pattern), (label, index) =>
    parsePatternLabel(label, index, named.forms),
  );
  if ('error' in pattern) return pattern;
  const templates = parseTemplates(message);
  if ('error' in templates) return templates;
  const canonical = canonicalPattern(pattern.value);
  const counter = counterPrefix(named.domain, canonical, unit);
  const rate = Number(message.rate ?? 0);
  const counted = { canonical, rate, unit, counter };
  return { value: { ...named, action, pattern: pattern.value, ...counted, ...templates.value } };
}

function parsePatternLabel(
  message: Message,
  index: number,
  forms: ComparableForms,
): Parsed<PatternLabel> {
  const alternatives = list(message.alternatives).map(({ key, value }) =>
    toAlternative(text(key), text(value), forms),
  );
  if (alternatives.length === 0) return { error: `pattern[${index}] is empty` };
  if (alternatives.some(({ key }) => key === ''))
    return { error: `pattern[${index}]: a key is empty` };
  return { value: alternatives };
}

function toAlternative(key: string, value: string, forms: ComparableForms): PatternLabel[number] {
  return value === '' ? { key } : { key, value: forms.get(key)?.(value) ?? value };
}

/**
 * Returns 128 bits that begin the key of every counter. All prefixes have one length, so that none
 * begins another.
 */
function counterPrefix(domain: string, canonical: string, unit: Unit): string {
  return createHash('sha256')
    .update(JSON.stringify([domain, canonical, unit]))
    .digest('base64url');
}

type Templates = Pick<Limit, 'requestHeaders' | 'responseHeaders' | 'errorResponse'>;

function parseTemplates(message: Message): Parsed<Templates> {
  const requestHeaders = within(
    'inject_request_headers',
    parseHeaders(message.inject_request_headers),
  );
  if ('error' in requestHeaders) return requestHeaders;
  const responseHeaders = within(
    'inject_response_headers',
    parseHeaders(message.inject_response_headers),
  );
  if ('error' in responseHeaders) return responseHeaders;
  const errorResponse = within('error_response', parseErrorResponse(message.error_response));
  if ('error' in errorResponse) return errorResponse;
  return {
    value: {
      requestHeaders: requestHeaders.value,
      responseHeaders: responseHeaders.value,
      errorResponse: errorResponse.value,
    },
  };
}

function parseErrorResponse(value: unknown): Parsed<ErrorResponse | undefined> {
  if (value === undefined || value === null) return { value: undefined };
  const message = value as Message;
  const headers = within('headers', parseHeaders(message.headers));
  if ('error' in headers) return headers;
  const body = within('body_template', parseText(text(message.body_template), 'body'));
  if ('error' in body) return body;
  return { value: { headers: headers.value, body: body.value === '' ? undefined : body.value } };
}

function parseHeaders(messages: unknown): Parsed<readonly HeaderTemplate[]> {
  return each(list(messages), message => {
    const name = parseHeaderName(text(message.name));
    if ('error' in name) return name;
    if (name.value.startsWith(':')) return { error: `"${name.value}" is no header to add` };
    const value = within(JSON.stringify(name.value), parseText(text(message.value), 'header'));
    return 'error' in value ? value : { value: { name: name.value, value: value.value } };
  });
}

function parseText(source: string, use: TemplateUse): Parsed<Text> {
  return source.includes('{{') ? parseTemplate(source, use) : { value: source };
}

function each<T>(
  messages: readonly Message[],
  parse: (message: Message, index: number) => Parsed<T>,
): Parsed<readonly T[]> {
  const values: T[] = [];
  for (const [index, message] of messages.entries()) {
    const parsed = parse(message, index);
    if ('error' in parsed) return parsed;
    values.push(parsed.value);
  }
  return { value: values };
}

function within<T>(place: string, parsed: Parsed<T>): Parsed<T> {
  return 'error' in parsed ? { error: `${place}: ${parsed.error}` } : parsed;
}

function list(value: unknown): readonly Message[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(text) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
