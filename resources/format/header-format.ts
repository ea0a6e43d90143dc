import type { Parsed } from '#resources/words/parsed-string.ts';
import { checkLogToken } from './log-format.ts';
import { LOG_TOKEN } from './log-operator.ts';
import { LOG_OPERATORS } from './log-operators.ts';

const LONGEST = 4096;

/**
 * The gateway's environment must not be sent away by an operator of resources. Of the others only
 * Envoy can tell whether their content is valid.
 */
const REFUSED: ReadonlySet<string> = new Set(['CEL', 'COALESCE', 'ENVIRONMENT', 'TYPED_CEL']);

/**
 * Parses the value of a header that Envoy writes. It is text with the command operators of its
 * access log, and `%%` for a percent sign. What Envoy would reject is rejected here. An error says
 * nothing of the value, which may be a secret. See Envoy's page "HTTP header manipulation".
 */
export function parseHeaderFormat(text: string): Parsed<string> {
  if (text.length > LONGEST)
    return { error: `a header value has ${LONGEST} characters at most, not ${text.length}` };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there (RFC 9110 section 5.5)
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text))
    return { error: 'a header value has no control characters' };
  for (const token of text.matchAll(LOG_TOKEN)) {
    const error = checkToken(token);
    if (error !== undefined) return { error: `Cannot parse header value: ${error}` };
  }
  return { value: text };
}

function checkToken(token: RegExpExecArray): string | undefined {
  const [text, name = ''] = token;
  if (text === '%%') return undefined;
  if (!Object.hasOwn(LOG_OPERATORS, name))
    return `the "%" at character ${token.index + 1} begins no operator that Envoy knows. Write "%%" for a percent sign`;
  return REFUSED.has(name) ? `\`${name}\` may not stand in a header` : checkLogToken(token);
}
