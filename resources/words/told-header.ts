import { parseHeaderName } from './http-token.ts';
import { checkedString, type Parsed } from './parsed-string.ts';
import { SECRET_HEADERS } from './reserved-headers.ts';

/** Parses the name of a header whose value leaves the gateway, in a trace or a log. */
function parseToldHeader(text: string): Parsed<string> {
  const parsed = parseHeaderName(text);
  if ('error' in parsed || !SECRET_HEADERS.includes(parsed.value)) return parsed;
  return { error: `\`${parsed.value}\` holds credentials, and they are in no trace and no log` };
}

/** A header whose value may leave the gateway, in lower case. */
export const toldHeader = checkedString('a header name', parseToldHeader);

/** Whether a header holds the path of the request with its query. */
export function isPathHeader(name: string): boolean {
  return name === ':path' || name === 'x-envoy-original-path';
}
