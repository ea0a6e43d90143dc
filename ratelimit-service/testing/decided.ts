import assert from 'node:assert/strict';
import { type Decision, decide } from '../decide.ts';
import { compileLimits } from '../limits-index.ts';
import { type LimitJson, limitsOf } from './limits.ts';
import { mapStore, requestOf } from './requests.ts';

/** 45.5 s before the minute ends. */
const NOW = 14_500;
export const REQUEST_ID = 'b2b7-42';

/**
 * Decides one request of groups `a=1` and `b=1`, or of those given. Limits are named `limit-0` and
 * so on.
 */
export function decided(
  limits: readonly LimitJson[],
  groups: readonly string[] = ['a=1', 'b=1'],
): Decision {
  const index = compileLimits(limitsOf('d', limits));
  const decision = decide(index, mapStore(NOW), requestOf(groups), REQUEST_ID);
  assert.ok('verdict' in decision);
  return decision;
}

type Headers = readonly (readonly [name: string, value: string])[];

export function responseHeaders(limits: readonly LimitJson[]): Headers {
  return decided(limits).response.response_headers_to_add.map(({ key, value }) => [key, value]);
}

export function requestHeaders(limits: readonly LimitJson[]): Headers {
  return decided(limits).response.request_headers_to_add.map(({ key, value }) => [key, value]);
}

export function body(limits: readonly LimitJson[]): string | undefined {
  const { raw_body } = decided(limits).response;
  return raw_body === null ? undefined : Buffer.from(raw_body).toString();
}

export const OVER: LimitJson = { pattern: ['a'], rate: 0 };
export const WITHIN: LimitJson = { pattern: ['a'], rate: 9 };
export const LOG_ONLY: LimitJson = { ...OVER, action: 'LOG_ONLY' };

export function header(name: string, value: string): object {
  return { name, value };
}
