import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { Memo } from '../memo.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { labelDomainProblems } from './label-domain-problems.ts';
import { labelling } from './labelling.ts';
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
const service = (spec = {}) => document('RateLimitService', 'own', { service: 'limiter:8081', ...spec });

const CASES: readonly (readonly [what: string, text: string, domain: string])[] = [
  ['no document at all', '', 'gateway'],
  ["Ambassador's limits and labels", limit('ambassador') + mapping('ambassador'), 'ambassador'],
  ["Ambassador's labels for a service of one's own", mapping('ambassador') + service(), 'ambassador'],
  ['default labels alone', module({ default_labels: { ambassador: { defaults: ['x'] } } }), 'ambassador'],
  ['our limits and labels', limit('gateway') + mapping('gateway'), 'gateway'],
  ['both', limit('ambassador') + mapping('gateway'), 'gateway'],
  [
    'both, and a Module that names one',
    limit('ambassador') + mapping('gateway') + module({ default_label_domain: 'ambassador' }),
    'ambassador',
  ],
  ['a Module of ours that names none', mapping('ambassador') + module({}, 'gateway.internal'), 'ambassador'],
  ['a RateLimitService that names one', mapping('ambassador') + service({ domain: 'x' }), 'x'],
  ['labels of proxies that ask for no limits', mapping('ambassador', { node_group: 'side' }), 'gateway'],
];
for (const [what, text, domain] of CASES)
  test(`with ${what} the label domain is ${domain}`, () => {
    assert.equal(labelling(resourceSetOf(text).resources).domain, domain);
  });

test("Ambassador's files work without a word, those of both domains are told which one counts and how to say it", () => {
  const messages = (text: string) => {
    const { resources } = resourceSetOf(text);
    return labelDomainProblems(resources, labelling(resources)).map(
      ({ name, message }) => `${name}: ${message}`,
    );
  };
  assert.deepEqual(messages(limit('ambassador') + mapping('ambassador')), []);
  const [labels, limits, ...more] = messages(
    mapping('ambassador') + limit('ambassador') + mapping('gateway') + limit('gateway'),
  );
  assert.deepEqual(more, []);
  for (const [told, name, what] of [
    [labels, 'to-ambassador', 'labels'],
    [limits, 'of-ambassador', 'limits'],
  ])
    assert.equal(
      told,
      `${name}: these ${what} of domain "ambassador" have no effect: the edge asks for limits of domain "gateway" only (labels and limits name both "gateway" and "ambassador", the default of files of getambassador.io: set the Module's \`default_label_domain\`)`,
    );
});

test("limits of Ambassador's files are judged by the labels of their domain", () => {
  const { resources } = resourceSetOf(limit('ambassador') + mapping('ambassador'));
  const context = { labelling: labelling(resources), taken: new Map(), ownHeaders: [] };
  assert.deepEqual(rateLimitProblems(resources, context, [], new Memo()), []);
});
