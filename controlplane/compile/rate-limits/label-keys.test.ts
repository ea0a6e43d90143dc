import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { Memo } from '../memo.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { labelKeys } from './label-keys.ts';
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
  mapping(
    'a',
    "{gateway: [{g: [x, {host: {header: ':authority'}}, {__proto__: {header: HOST}}, {path: {path: true}}, {whole: {header: ':path'}}, {client: {header: X-Forwarded-For}}]}]}",
  ),
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

test('the keys of labels that read host and path are those of Mappings and default labels, by domain', () => {
  const { resources } = resourceSetOf(MODULE + MAPPINGS);
  assert.deepEqual(
    labelKeys(resources),
    new Map([
      ['shop', { hosts: ['default_host'], paths: [], targets: [], forwarded: [] }],
      [
        'gateway',
        {
          hosts: ['__proto__', 'forwarded', 'host'],
          paths: ['path'],
          targets: ['whole'],
          forwarded: ['client'],
        },
      ],
      ['other', { hosts: ['h'], paths: [], targets: [], forwarded: [] }],
    ]),
  );
});

test('the rate limit service is told them, and again when a Mapping changes them', () => {
  const memo = new Memo();
  const { resources } = resourceSetOf(LIMITS);
  const hostKeys = (mappings: string) => {
    const changed = { ...resources, mappings: resourceSetOf(mappings).resources.mappings };
    return rateLimitMessages(changed, changed.rateLimits, memo).resources.get(RATE_LIMIT)?.[0]?.json
      .host_keys;
  };
  assert.equal(hostKeys(''), undefined);
  assert.deepEqual(hostKeys(MAPPINGS), ['__proto__', 'forwarded', 'host']);
  assert.equal(hostKeys(''), undefined);
});

test('the rate limit service is told by how many bits addresses count, and again when the Module changes them', () => {
  const memo = new Memo();
  const prefixes = (module: string) => {
    const { resources, problems } = resourceSetOf(LIMITS + module);
    assert.deepEqual(problems, []);
    const json = rateLimitMessages(resources, resources.rateLimits, memo).resources.get(
      RATE_LIMIT,
    )?.[0]?.json;
    return [json?.ipv4_prefix, json?.ipv6_prefix];
  };
  const module = (lengths: string) =>
    document('Module', 'gateway', `{config: {remote_address_prefix: ${lengths}}}`);
  assert.deepEqual(prefixes(''), [undefined, 64]);
  assert.deepEqual(prefixes(module('{ipv4: 24, ipv6: 56}')), [24, 56]);
  assert.deepEqual(prefixes(module('{ipv6: 128}')), [undefined, undefined]);
});
