import { parseHeaderName } from '#resources/words/http-token.ts';

type Check = (params: string) => string | undefined;

const METADATA_TYPES: readonly string[] = [
  'DYNAMIC',
  'CLUSTER',
  'ROUTE',
  'UPSTREAM_HOST',
  'LISTENER',
  'LISTENER_FILTER_CHAIN',
  'VIRTUAL_HOST',
];

/** Accepts one of the words, or nothing. */
export function exactly(...words: readonly string[]): Check {
  return params =>
    params === '' || words.includes(params) ? undefined : `may be ${words.join(', ')}`;
}

/**
 * Accepts words separated by `:`, each one of those of its place, or nothing. Envoy reads no
 * further.
 */
export function oneOf(...places: readonly (readonly string[])[]): Check {
  return params => {
    const parts = params.split(':');
    const wrong = places.find((words, place) => !['', ...words].includes(parts[place] ?? ''));
    return wrong === undefined ? undefined : `may be ${wrong.join(', ')}`;
  };
}

/** Checks a header. After `?` may follow the one that is used when the first is missing. */
export function checkHeaders(params: string): string | undefined {
  const names = params.split('?');
  if (names.length > 2) return 'may name one other header after "?", not more';
  const wrong = names.find(name => name !== '' && !isHeaderName(name));
  return wrong === undefined
    ? undefined
    : `must be a header name: ${JSON.stringify(wrong)} is none`;
}

/** A response has other pseudo-headers than a request. Any of both is accepted here. */
function isHeaderName(name: string): boolean {
  const plain = name.replace(/^:/, '');
  return plain !== '' && !plain.startsWith(':') && 'value' in parseHeaderName(plain);
}

/** Checks a format of a time. Envoy rejects only line breaks in it. */
export function checkTime(params: string): string | undefined {
  return /%[-_0^#]*[1-9]*[EO]?n/.test(params) ? 'may not have "%n", a line break' : undefined;
}

/** Checks `START:END` or `START:END:PRECISION`. */
export function checkCommonDuration(params: string): string | undefined {
  const [, end, precision = 'ms', more] = params.split(':');
  const right = end !== undefined && ['ms', 'us', 'ns'].includes(precision) && more === undefined;
  return right ? undefined : 'must be START:END:PRECISION, with the precision ms, us or ns';
}

/** Checks `TYPE:NAMESPACE:KEY…`. */
export function checkMetadata(params: string): string | undefined {
  const [type = ''] = params.split(':');
  return METADATA_TYPES.includes(type) ? undefined : `must begin with ${METADATA_TYPES.join(', ')}`;
}

/** Checks `KEY`, `KEY:PLAIN`, `KEY:TYPED` or `KEY:FIELD:NAME`. */
export function checkFilterState(params: string): string | undefined {
  const [key, form = '', ...field] = params.split(':');
  const named = field.some(part => part !== '');
  const right =
    key !== '' && ['', 'PLAIN', 'TYPED', 'FIELD'].includes(form) && named === (form === 'FIELD');
  return right ? undefined : 'must be KEY, KEY:PLAIN, KEY:TYPED or KEY:FIELD:NAME';
}
