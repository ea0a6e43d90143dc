import * as z from 'zod';
import { cookieName } from '#resources/words/cookie-name.ts';
import { duration } from '#resources/words/duration.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { parseHeaderName } from '#resources/words/http-token.ts';
import { LONGEST_MS } from '#resources/words/number-types.ts';
import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';

/** The property that selects the instance for all requests of one client. */
const KEYS = ['cookie', 'header', 'source_ip'] as const;

/** Browsers count whole seconds. 0 means until the browser is closed. */
const ttl = duration.transform((milliseconds, context): number => {
  const inBounds = milliseconds >= 0 && milliseconds <= LONGEST_MS;
  const message = `it must be from 0 to ${LONGEST_MS} milliseconds`;
  if (!inBounds) context.addIssue({ code: 'custom', message });
  return Math.ceil(milliseconds / 1000) * 1000;
});

function parseCookiePath(text: string): Parsed<string> {
  if (/^\/[\x21-\x3a\x3c-\x7e]*$/.test(text)) return { value: text };
  return {
    error: `${JSON.stringify(text.slice(0, 80))} is not the path of a cookie: it begins with "/", without spaces and ";"`,
  };
}

const cookie = z.object({
  name: cookieName.describe('Name of the cookie'),
  ttl: ttl
    .exactOptional()
    .describe(
      'The gateway sets the cookie where there is none, for so long. `0s`: until the browser is closed. Default: the service sets it',
    ),
  path: checkedString('a path', parseCookiePath)
    .exactOptional()
    .describe('Path of the cookie that the gateway sets'),
});

/** How requests are spread over the instances of a service. */
export const loadBalancer = z
  .object({
    policy: z
      .enum(['round_robin', 'least_request', 'ring_hash', 'maglev'])
      .default('round_robin')
      .describe('`ring_hash` and `maglev` keep to an instance by one of the following'),
    cookie: cookie.exactOptional().describe('By this cookie'),
    header: checkedString('the name of a header', parseHeaderName)
      .exactOptional()
      .describe('By this header'),
    source_ip: falseByDefault.describe("By the client's address"),
  })
  .check(({ value, issues }) => {
    const [, second] = keysOf(value);
    if (second === undefined) return;
    const message = `${KEYS.map(key => `\`${key}\``).join(', ')} exclude each other. Keep one`;
    issues.push({ code: 'custom', message, path: [second], input: value });
  });

export type LoadBalancer = z.output<typeof loadBalancer>;

/** Returns the fields that select an instance, if there are any. */
export function keysOf(balancer: Partial<LoadBalancer>): readonly string[] {
  return KEYS.filter(key => balancer[key] !== undefined && balancer[key] !== false);
}

/** Whether the policy selects by one of these fields. */
export function isHashing({ policy }: LoadBalancer): boolean {
  return policy === 'ring_hash' || policy === 'maglev';
}
