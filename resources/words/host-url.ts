import { type HostPort, parseHostPort } from './host.ts';
import { type Parsed, parsedString } from './parsed-string.ts';

const FORM = 'tcp://host:port';

/**
 * Parses `tcp://host:port`, the address of one member of a cluster
 * (docs/reference/kinds/proxy-config.md).
 */
function parseHostUrl(text: string): Parsed<HostPort> {
  // Not quoted, because a password may stand before the "@".
  if (text.includes('@'))
    return { error: 'Cannot parse url: it may not have a user name or password ("@")' };
  const rest = /^tcp:\/\/(.+)$/is.exec(text)?.[1];
  if (rest === undefined) return fail(text, `write ${FORM}`);
  const target = parseHostPort(rest);
  if ('error' in target) return fail(text, target.error);
  const { host, port } = target.value;
  return port === undefined
    ? fail(text, `it has no port. Write ${FORM}`)
    : { value: { host, port } };
}

function fail(text: string, reason: string): Parsed<never> {
  return { error: `Cannot parse url "${text}": ${reason}` };
}

export const hostUrl = parsedString(FORM, parseHostUrl);
