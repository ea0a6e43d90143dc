import * as z from 'zod';
import { parseUpgrade } from '#resources/words/http-token.ts';
import { checkedString } from '#resources/words/parsed-string.ts';
import { nearest } from '#resources/words/suggest.ts';

/** Protocols to which the requests of a route may switch, in lower case. */
export const allowUpgrade = z
  .array(checkedString('a protocol', parseUpgrade).meta({ odd: misspelt }))
  .default([]);

/** Protocols in use. See IANA, "HTTP Upgrade Tokens". */
const KNOWN = ['websocket', 'webtransport', 'connect-udp', 'connect-ip'];

/** Returns a warning of a protocol that is like one in use. Any other may be the operator's own. */
function misspelt(text: string): string | undefined {
  const protocol = text.toLowerCase();
  if ('error' in parseUpgrade(text) || KNOWN.includes(protocol)) return undefined;
  const near = nearest(protocol, KNOWN);
  if (near === undefined) return undefined;
  return `no client is known to ask for the protocol \`${text}\`, did you mean \`${near}\`?`;
}
