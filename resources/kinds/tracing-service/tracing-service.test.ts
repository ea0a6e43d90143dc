import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const BASE = { service: 'collector:4317', driver: 'opentelemetry' };

function read(fields: object): unknown {
  return parseText(documentOf('TracingService', { ...BASE, ...fields })).resources[0]?.spec;
}

test('a TracingService needs a service and a driver, the rest has defaults', () => {
  assert.deepEqual(read({}), {
    service: { scheme: 'http', host: 'collector', port: 4317, portGiven: true },
    driver: 'opentelemetry',
    config: {
      collector_endpoint: '/api/v2/spans',
      collector_endpoint_version: 'HTTP_JSON',
      trace_id_128bit: true,
      shared_span_context: true,
    },
    sampling: { client: 100, random: 100, overall: 100 },
    continue_client_traces: false,
    spawn_upstream_span: false,
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('TracingService', {}), [
    'error spec.service: `service` is required: [http://|https://]name[.namespace][:port]',
    'error spec.driver: `driver` is required: one of `opentelemetry`, `zipkin`',
  ]);
});

test('a gateway has one TracingService', () => {
  const files = ['a', 'b'].map(name =>
    parseFile(name, documentOf('TracingService', BASE, name), DEFAULT_PARSE_OPTIONS),
  );
  const { resources, problems } = collect(files);
  assert.deepEqual([...resources.keys()], ['TracingService/default/a']);
  assert.deepEqual(
    problems.map(({ name }) => name),
    ['b'],
  );
});

test('a wrong tag is left out alone', () => {
  const custom_tags = [
    { tag: 'a', literal: { value: 'b' } },
    { tag: 'b', request_header: { name: 'Cookie' } },
    { tag: 'c' },
    { tag: 'd', literal: { value: 'e' }, environment: { name: 'f' } },
    { tag: '', literal: { value: '' } },
  ];
  const { custom_tags: tags } = read({ custom_tags }) as { custom_tags: unknown };
  assert.deepEqual(tags, custom_tags.slice(0, 1));
  assert.deepEqual(problemsOf('TracingService', { ...BASE, custom_tags }), [
    'error spec.custom_tags[1].request_header.name: `cookie` holds credentials, and they are in no trace and no log',
    'error spec.custom_tags[2]: a tag has one of `literal`, `environment` and `request_header`',
    'error spec.custom_tags[3]: a tag has one of `literal`, `environment` and `request_header`',
    'error spec.custom_tags[4].tag: `tag` must not be empty',
    'error spec.custom_tags[4].literal.value: `value` must not be empty',
  ]);
});

for (const name of ['Authorization', 'proxy-authorization', 'set-cookie', 'X-Gateway-Password'])
  test(`the header ${name} is no tag`, () =>
    assert.deepEqual(problemsOf('TracingService', { ...BASE, tag_headers: [name] }), [
      `error spec.tag_headers[0]: \`${name.toLowerCase()}\` holds credentials, and they are in no trace and no log`,
    ]));

const REFUSED: readonly [fields: object, problem: string][] = [
  [
    { driver: 'datadog' },
    'driver: `driver` must be one of `opentelemetry`, `zipkin`, not "datadog"',
  ],
  [
    { sampling: { random: 101 } },
    'sampling.random: `random` must be a percentage from 0 to 100, not 101',
  ],
  [
    { sampling: { client: -0.1 } },
    'sampling.client: `client` must be a percentage from 0 to 100, not -0.1',
  ],
  [
    { config: { collector_endpoint: 'spans' } },
    'config.collector_endpoint: "spans" is no path: it begins with "/" and has no white space',
  ],
  [
    { config: { collector_hostname: 'a b' } },
    'config.collector_hostname: "a b" is not a host name: "a b" may have letters, digits, "-" and "_" only, and no "-" at its ends',
  ],
  [{ config: { service_name: '' } }, 'config.service_name: `service_name` must not be empty'],
];

for (const [fields, problem] of REFUSED) {
  test(`a TracingService with ${JSON.stringify(fields)} is rejected`, () => {
    assert.deepEqual(problemsOf('TracingService', { ...BASE, ...fields }), [
      `error spec.${problem}`,
    ]);
  });
}

test('tag_headers do not count beside custom_tags', () =>
  assert.deepEqual(
    problemsOf('TracingService', { ...BASE, custom_tags: [], tag_headers: ['x-a'] }),
    ['warning spec.tag_headers: `tag_headers` do not count beside `custom_tags`'],
  ));

test('percentages that Envoy does not know are told, with what they count as', () =>
  assert.deepEqual(
    problemsOf('TracingService', {
      ...BASE,
      sampling: { client: 0.5, random: 0.004, overall: 99.999 },
    }),
    [
      'warning spec.sampling.client: Envoy samples in steps of 1 percent here, so this counts as 0',
      'warning spec.sampling.random: Envoy samples in steps of 0.01 percent here, so this counts as 0',
      'warning spec.sampling.overall: Envoy samples in steps of 0.01 percent here, so this counts as 100',
    ],
  ));

test('percentages that Envoy knows are good', () =>
  assert.deepEqual(
    problemsOf('TracingService', { ...BASE, sampling: { client: 7, random: 0.29, overall: 0.07 } }),
    [],
  ));

test("names of a cluster with Ambassador's resources are read with a warning", () => {
  const tag = { tag: 'a', literal: { value: 'b' } };
  const fields = { v3CustomTags: [tag], config: { collector_endpoint_hostname: 'zipkin' } };
  const { config, custom_tags } = read(fields) as Record<string, { collector_hostname?: string }>;
  assert.deepEqual(custom_tags, [tag]);
  assert.equal(config?.collector_hostname, 'zipkin');
  assert.deepEqual(problemsOf('TracingService', { ...BASE, ...fields }), [
    'warning spec.v3CustomTags: `v3CustomTags` is deprecated. Write `custom_tags`',
    'warning spec.config.collector_endpoint_hostname: `collector_endpoint_hostname` is deprecated. Write `collector_hostname`',
  ]);
});
