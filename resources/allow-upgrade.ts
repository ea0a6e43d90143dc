import * as z from 'zod';
import { parseUpgrade } from './http-token.ts';
import { checkedString } from './parsed-string.ts';

/** Protocols to which the requests of a route may switch, in lower case. */
export const allowUpgrade = z.array(checkedString('a protocol', parseUpgrade)).default([]);
