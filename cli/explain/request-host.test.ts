import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestHost } from './request-host.ts';

/** As Envoy 1.40 answered. */
const HOSTS: Readonly<Record<string, string>> = {
  Shop: 'Shop',
  'h.': 'h',
  'h..': 'h.',
  'h:80': 'h',
  'h.:80': 'h',
  'H.:80.': 'H.',
  'h:': 'h:',
  'h.:': 'h:',
  'h:abc': 'h:abc',
  'h:+80': 'h',
  'h:-1': 'h:-1',
  'h:99999': 'h',
  'h:99999999999': 'h:99999999999',
  'a:b:c': 'a:b:c',
  '[::1]': '[::1]',
  '[::1]:80': '[::1]',
  '[::1].:80': '[::1]',
  '[::1]:x': '[::1]:x',
  '::1': ':',
};

for (const [authority, host] of Object.entries(HOSTS)) {
  test(`the host of ${authority} is ${host}`, () => {
    assert.equal(requestHost(authority), host);
  });
}
