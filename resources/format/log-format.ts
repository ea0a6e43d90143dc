import type { Parsed } from '#resources/words/parsed-string.ts';
import { suggest } from '#resources/words/suggest.ts';
import { LOG_TOKEN } from './log-operator.ts';
import { LOG_OPERATORS } from './log-operators.ts';

const LONGEST = 16_384;
const LARGEST_LENGTH = 2n ** 64n - 1n;
const NAMES = Object.keys(LOG_OPERATORS);

/**
 * Parses the format of a line of Envoy's access log. It is text with command operators, `%NAME%` or
 * `%NAME(params):length%`, and `%%` for a percent sign. What Envoy 1.40 rejects is rejected here.
 * The exception is what only its compiler of CEL expressions can tell. See Envoy's page
 * "Substitution Formatter".
 */
export function parseLogFormat(text: string): Parsed<string> {
  if (text.length > LONGEST)
    return fail(`it has ${text.length} characters, ${LONGEST} are allowed`);
  for (const token of text.matchAll(LOG_TOKEN)) {
    const error = checkLogToken(token);
    if (error !== undefined) return fail(error);
  }
  return { value: text };
}

/**
 * Checks what LOG_TOKEN found.
 * @returns what is wrong, or undefined
 */
export function checkLogToken(match: RegExpExecArray): string | undefined {
  const [token, name, params = '', length] = match;
  if (token === '%%') return undefined;
  if (name === undefined) return explainStray(match.input.slice(match.index + 1), match.index);
  if (BigInt(length ?? 0) > LARGEST_LENGTH)
    return `the length of \`${name}\` is too large: ${length}`;
  return checkOperator(name, params, length !== undefined);
}

/**
 * Checks one operator: its name, and what stands or lacks after it.
 * @returns what is wrong, or undefined
 */
function checkOperator(name: string, params: string, hasLength: boolean): string | undefined {
  const operator = Object.hasOwn(LOG_OPERATORS, name) ? LOG_OPERATORS[name] : undefined;
  if (operator === undefined) return `unknown operator \`${name}\`${suggest(name, NAMES)}`;
  if (operator.params === 'none' && (params !== '' || hasLength))
    return `\`${name}\` takes neither params nor a length: write %${name}%`;
  if (operator.params === 'required' && params === '')
    return `\`${name}\` needs params: %${name}(…)%`;
  if (!operator.length && hasLength) return `\`${name}\` takes no length`;
  const wrong = operator.check?.(params, checkOperator);
  return wrong === undefined ? undefined : `\`${name}\` ${wrong}`;
}

/** Explains why the `%` at `index`, which `rest` follows, begins no operator. */
function explainStray(rest: string, index: number): string {
  const [name = ''] = /^\w*/.exec(rest) ?? [];
  if (!Object.hasOwn(LOG_OPERATORS, name)) {
    const meant = name === '' ? '' : suggest(name, NAMES);
    if (meant !== '') return `unknown operator \`${name}\`${meant}`;
    return `the "%" at character ${index + 1} begins no operator. Write "%%" for a percent sign`;
  }
  const after = rest.slice(name.length);
  const unclosed = after.startsWith('(') && !/^\([^\n]*?\)/.test(after);
  if (unclosed) return `the params of \`${name}\` are not closed on their line: write %${name}(…)%`;
  if (after.replace(/^\([^\n]*?\)/, '').startsWith(':'))
    return `the length of \`${name}\` must be digits, as in %${name}(…):10%`;
  return `\`${name}\` is not closed by a "%"`;
}

function fail(reason: string): Parsed<never> {
  return { error: `Cannot parse log format: ${reason}` };
}

const LONGEST_HEADER = 4096;

/**
 * The gateway's environment must not be sent away by an operator of resources. Of the others only
 * Envoy can tell whether their content is valid.
 */
const NOT_IN_HEADERS: ReadonlySet<string> = new Set([
  'CEL',
  'COALESCE',
  'ENVIRONMENT',
  'TYPED_CEL',
]);

/**
 * Parses the value of a header that Envoy writes. It is text with the command operators of its
 * access log, and `%%` for a percent sign. What Envoy would reject is rejected here. An error says
 * nothing of the value, which may be a secret. See Envoy's page "HTTP header manipulation".
 */
export function parseHeaderFormat(text: string): Parsed<string> {
  if (text.length > LONGEST_HEADER)
    return { error: `a header value has ${LONGEST_HEADER} characters at most, not ${text.length}` };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there (RFC 9110 section 5.5)
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text))
    return { error: 'a header value has no control characters' };
  for (const token of text.matchAll(LOG_TOKEN)) {
    const error = checkHeaderToken(token);
    if (error !== undefined) return { error: `Cannot parse header value: ${error}` };
  }
  return { value: text };
}

function checkHeaderToken(token: RegExpExecArray): string | undefined {
  const [text, name = ''] = token;
  if (text === '%%') return undefined;
  if (!Object.hasOwn(LOG_OPERATORS, name))
    return `the "%" at character ${token.index + 1} begins no operator that Envoy knows. Write "%%" for a percent sign`;
  return NOT_IN_HEADERS.has(name) ? `\`${name}\` is not allowed in a header` : checkLogToken(token);
}
