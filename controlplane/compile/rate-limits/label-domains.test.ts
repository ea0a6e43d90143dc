import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { Memo } from '../memo.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { labelDomainProblems } from './label-domain-problems.ts';
import { labellings } from './labelling.ts';
import { rateLimitProblems } from './rate-limit-problems.ts';

const document = (kind: string, name: string, spec: object, group = 'getambassador.io') =>
  `---\n${stringify({ apiVersion: `${group}/v2`, kind, metadata: { name }, spec })}`;
const mapping = (domain: string, more = {}) =>
  document('Mapping', `to-${domain}`, {
    prefix: `/${domain}/`,
    service: 's',
    labels: { [domain]: [{ g: ['x'] }] },
    ...more,
  });
const limit = (domain: string) =>
  document('RateLimit', `of-${domain}`, {
    domain,
    limits: [{ pattern: [{ generic_key: 'x' }], rate: 1, unit: 'day' }],
  });
const module = (config: object, group?: string) => document('Module', 'gateway', { config }, group);
const service = (spec = {}) =>
  document('RateLimitService', 'own', { service: 'limiter:8081', ...spec });

const BOTH = ['gateway', 'ambassador'];
const CASES: readonly (readonly [what: string, text: string, domains: readonly string[]])[] = [
  ['no document at all', '', BOTH],
  ["Ambassador's limits and labels", limit('ambassador') + mapping('ambassador'), BOTH],
  ['a Module that names none', mapping('gateway') + module({}, 'gateway.internal'), BOTH],
  ['a Module that names one', module({ default_label_domain: 'ambassador' }), ['ambassador']],
  ['a RateLimitService of its own', mapping('ambassador') + service(), BOTH],
  [
    'a RateLimitService that names one',
    module({ default_label_domain: 'ambassador' }) + service({ domain: 'x' }),
    ['x'],
  ],
];
for (const [what, text, domains] of CASES)
  test(`with ${what} the label domains are ${domains.join(' and ')}`, () => {
    const named = labellings(resourceSetOf(text).resources).domains;
    assert.deepEqual(
      named.map(({ domain }) => domain),
      domains,
    );
  });

const messagesOf = (text: string) => {
  const { resources } = resourceSetOf(text);
  return labelDomainProblems(resources, labellings(resources)).map(
    ({ name, message }) => `${name}: ${message}`,
  );
};

test('labels and limits of both domains work without a word', () => {
  const both = (['ambassador', 'gateway'] as const).map(domain => limit(domain) + mapping(domain));
  assert.deepEqual(messagesOf(both.join('')), []);
});

test('labels and limits of other domains are told which count', () => {
  const told = (what: string) =>
    `these ${what} of domain "shop" have no effect: the edge asks for limits of domain "gateway" and "ambassador" only (the Module's \`default_label_domain\`). Name one of them here, or this one there`;
  assert.deepEqual(messagesOf(mapping('shop') + limit('shop')), [
    `to-shop: ${told('labels')}`,
    `of-shop: ${told('limits')}`,
  ]);
});

test("limits of Ambassador's files are judged by the labels of their domain", () => {
  const { resources } = resourceSetOf(
    limit('ambassador') + mapping('ambassador') + limit('gateway'),
  );
  const context = {
    labellings: labellings(resources),
    applied: resources.rateLimits,
    taken: new Map(),
    gatewayHeaders: [],
    builtIn: { host: '127.0.0.1', port: 18002 },
  };
  const problems = rateLimitProblems(resources, context, () => [], new Memo());
  assert.deepEqual(
    problems.map(({ name }) => name),
    ['of-gateway'],
  );
});
