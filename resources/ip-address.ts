import * as z from 'zod';
import { checkedString } from './parsed-string.ts';

const ipv4 = z.ipv4();
const ipv6 = z.ipv6();

/** 4 or 6 for a literal IP address without brackets, port or zone, else 0. */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (ipv4.safeParse(text).success) return 4;
  return text.includes(':') && ipv6.safeParse(text).success ? 6 : 0;
}

export const ipAddress = checkedString('an IP address', text =>
  ipVersion(text) === 0 ? { error: `"${text}" is not an IP address` } : { value: text },
);
