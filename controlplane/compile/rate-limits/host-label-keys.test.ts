import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { Memo } from '../memo.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { hostLabelKeys } from './host-label-keys.ts';
import { rateLimitMessages } from './rate-limit-messages.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const MODULE = document(
  'Module',
  'gateway',
  '{config: {default_labels: {shop: {defaults: [{default_host: {header: Host}}]}}}}',
);
const mapping = (name: string, labels: string, more = '') =>
  document('Mapping', name, `{prefix: /${name}/, service: s, labels: ${labels}${more}}`);
const MAPPINGS = [
  mapping('a', "{gateway: [{g: [x, {host: {header: ':authority'}}, {__proto__: {header: HOST}}]}]}"),
  mapping(
    'b',
    '{gateway: [{g: [{forwarded: {header: X-Forwarded-Host}}]}], other: [{g: [{h: {header: Host}}]}]}',
  ),
  mapping('c', '{gateway: [{g: [{unserved: {header: Host}}]}]}', ', node_group: side'),
].join('');
const LIMITS = document(
  'RateLimit',
  'l',
  '{domain: gateway, limits: [{pattern: [x], rate: 1, unit: day}]}',
).replace('[x]', '[{generic_key: x}]');

test('the keys of labels that read the host are those of Mappings and default labels, by domain', () => {
  const { resources } = resourceSetOf(MODULE + MAPPINGS);
  assert.deepEqual(
    hostLabelKeys(resources),
    new Map([
      ['shop', ['default_host']],
      ['gateway', ['__proto__', 'forwarded', 'host']],
      ['other', ['h']],
    ]),
  );
});

test('the rate limit service is told them, and again when a Mapping changes them', () => {
  const memo = new Memo();
  const { resources } = resourceSetOf(LIMITS);
  const hostKeys = (mappings: string) => {
    const changed = { ...resources, mappings: resourceSetOf(mappings).resources.mappings };
    return rateLimitMessages(changed, memo).resources.get(RATE_LIMIT)?.[0]?.json.host_keys;
  };
  assert.equal(hostKeys(''), undefined);
  assert.deepEqual(hostKeys(MAPPINGS), ['__proto__', 'forwarded', 'host']);
  assert.equal(hostKeys(''), undefined);
});
