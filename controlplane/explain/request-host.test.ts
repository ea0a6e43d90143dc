import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutPort, withoutTrailingDot } from './request-host.ts';

/** Authority as sent → the upstream's authority and the host that Envoy 1.40 routes by. */
const HOSTS: Readonly<Record<string, readonly [sent: string, host: string]>> = {
  Shop: ['Shop', 'Shop'],
  'h.': ['h', 'h'],
  'h..': ['h.', 'h.'],
  'h:80': ['h:80', 'h'],
  'h.:80': ['h:80', 'h'],
  'h:80.': ['h:80', 'h'],
  'h:': ['h:', 'h'],
  'h.:': ['h:', 'h'],
  'h:abc': ['h:abc', 'h'],
  'h:-1': ['h:-1', 'h'],
  'h:99999999999': ['h:99999999999', 'h'],
  'a:b:c': ['a:b:c', 'a:b'],
  '[::1]': ['[::1]', '[::1]'],
  '[::1]:80': ['[::1]:80', '[::1]'],
  '[::1].:80': ['[::1]:80', '[::1]'],
};

for (const [authority, [sent, host]] of Object.entries(HOSTS)) {
  test(`${authority} is sent as ${sent} and routed as ${host}`, () => {
    assert.equal(withoutTrailingDot(authority), sent);
    assert.equal(withoutPort(sent), host);
  });
}
