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

/** One of the words, or nothing. */
export function exactly(...words: readonly string[]): Check {
  return params =>
    params === '' || words.includes(params) ? undefined : `may be ${words.join(', ')}`;
}

/**
 * Words parted by `:`, each of which is one of those of its place, or nothing; Envoy reads no
 * further.
 */
export function oneOf(...places: readonly (readonly string[])[]): Check {
  return params => {
    const parts = params.split(':');
    const wrong = places.find((words, place) => !['', ...words].includes(parts[place] ?? ''));
    return wrong === undefined ? undefined : `may be ${wrong.join(', ')}`;
  };
}

/** A header, and after `?` the one that is taken when the first is missing. */
export function checkHeaders(params: string): string | undefined {
  const names = params.split('?');
  if (names.length > 2) return 'may name one other header after "?", not more';
  const wrong = names.find(name => name !== '' && !isHeaderName(name));
  return wrong === undefined
    ? undefined
    : `must be a header name: ${JSON.stringify(wrong)} is none`;
}

/**
 * In a response there are other pseudo-headers than those of a request: here each is one that might
 * be.
 */
function isHeaderName(name: string): boolean {
  const plain = name.replace(/^:/, '');
  return plain !== '' && !plain.startsWith(':') && 'value' in parseHeaderName(plain);
}

/** A format of a time, of which Envoy refuses line breaks only. */
export function checkTime(params: string): string | undefined {
  return /%[-_0^#]*[1-9]*[EO]?n/.test(params) ? 'may not have "%n", a line break' : undefined;
}

/** `START:END` or `START:END:PRECISION`. */
export function checkCommonDuration(params: string): string | undefined {
  const [, end, precision = 'ms', more] = params.split(':');
  const right = end !== undefined && ['ms', 'us', 'ns'].includes(precision) && more === undefined;
  return right ? undefined : 'must be START:END:PRECISION, with the precision ms, us or ns';
}

/** `TYPE:NAMESPACE:KEY…`. */
export function checkMetadata(params: string): string | undefined {
  const [type = ''] = params.split(':');
  return METADATA_TYPES.includes(type) ? undefined : `must begin with ${METADATA_TYPES.join(', ')}`;
}

/** `KEY`, `KEY:PLAIN`, `KEY:TYPED` or `KEY:FIELD:NAME`. */
export function checkFilterState(params: string): string | undefined {
  const [key, form = '', ...field] = params.split(':');
  const named = field.some(part => part !== '');
  const right =
    key !== '' && ['', 'PLAIN', 'TYPED', 'FIELD'].includes(form) && named === (form === 'FIELD');
  return right ? undefined : 'must be KEY, KEY:PLAIN, KEY:TYPED or KEY:FIELD:NAME';
}
