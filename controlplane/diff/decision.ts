import type { Access } from './difference.ts';

/** What decides about a request, and the Filters without which it does not pass. */
export type Decision = Access & { readonly sure: ReadonlySet<string> };

export const OPEN: Decision = { decision: 'open', filters: [], sure: new Set() };
export const CLOSED: Decision = { decision: 'closed', filters: [], sure: new Set() };
/** A route without Filters. */
export const BYPASS: Decision = { ...OPEN, by: 'bypass_auth' };
