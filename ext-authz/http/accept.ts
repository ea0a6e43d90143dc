import type { HeaderFields } from './http-request.ts';

/** How many characters of `Accept` are read. The rest of a longer one is ignored. */
const LONGEST = 1024;

const HTML = ['text/html', 'application/xhtml+xml'];
const JSON_TYPES = ['application/json'];
const WILDCARDS = ['text/*', '*/*'];

type Range = { readonly type: string; readonly weight: number };

/**
 * Returns whether `Accept` names HTML with a greater weight than JSON. Wildcards prefer nothing.
 */
export function prefersHtml(headers: HeaderFields): boolean {
  const ranges = rangesOf(headers);
  return weight(ranges, HTML) > weight(ranges, JSON_TYPES);
}

/**
 * Returns whether an HTML page is an answer to this request (RFC 9110 section 12.5.1). Without
 * `Accept` anything is. A script that names JSON and not HTML wants JSON, though it adds a
 * wildcard.
 */
export function acceptsHtml(headers: HeaderFields): boolean {
  if (!headers.has('accept')) return true;
  const ranges = rangesOf(headers);
  const [html, json] = [weight(ranges, HTML), weight(ranges, JSON_TYPES)];
  const isHtmlNamed = ranges.some(({ type }) => HTML.includes(type));
  return isHtmlNamed || json > 0 ? html > 0 && html >= json : weight(ranges, WILDCARDS) > 0;
}

function rangesOf(headers: HeaderFields): readonly Range[] {
  const text = (headers.get('accept') ?? []).join(',');
  return text.slice(0, LONGEST).toLowerCase().split(',').map(toRange);
}

function toRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map(part => part.trim());
  const q = parameters.find(parameter => parameter.startsWith('q='));
  const value = q === undefined ? 1 : Number(q.slice(2));
  return { type, weight: value >= 0 && value <= 1 ? value : 0 };
}

function weight(ranges: readonly Range[], types: readonly string[]): number {
  return Math.max(
    0,
    ...ranges.filter(({ type }) => types.includes(type)).map(range => range.weight),
  );
}
