import * as z from 'zod';
import { gatewayDuration } from './duration.ts';
import { tokenName } from './names.ts';
import { type Breach, checkRules, choiceBreaches } from './rules.ts';

const cookie = z.object({
  name: tokenName.exactOptional().describe('Name of the cookie'),
  path: z
    .string()
    .max(1024)
    .default('/')
    .meta({ form: 'a path of at most 1024 characters' })
    .describe('Path of the cookie'),
  lifetimeType: z
    .enum(['Permanent', 'Session'])
    .default('Session')
    .describe('Whether it outlives the browser. `Permanent` needs `absoluteTimeout`'),
});

/** Requests of one session go to the same instance. */
export const sessionPersistence = z
  .object({
    type: z.enum(['Cookie', 'Header']).default('Cookie').describe('What carries the session'),
    absoluteTimeout: gatewayDuration.exactOptional().describe('Longest time of a session'),
    cookie: cookie.exactOptional().describe('The cookie, for `type: Cookie`'),
    header: z
      .object({ name: tokenName.describe('Name of the header') })
      .exactOptional()
      .describe('The header, for `type: Header`'),
  })
  .check(checkRules(sessionBreaches));

type Session = {
  readonly type: 'Cookie' | 'Header';
  readonly absoluteTimeout?: number;
  readonly cookie?: z.output<typeof cookie>;
};

function sessionBreaches(value: Session): readonly Breach[] {
  const { cookie, absoluteTimeout } = value;
  const isOpen = cookie?.lifetimeType === 'Permanent' && absoluteTimeout === undefined;
  const message = '`absoluteTimeout` is required for `lifetimeType: Permanent`';
  return [
    ...choiceBreaches(value, { Cookie: 'cookie', Header: 'header' }),
    ...(isOpen ? [{ path: ['absoluteTimeout'], message }] : []),
  ];
}

export type SessionPersistence = z.output<typeof sessionPersistence>;
