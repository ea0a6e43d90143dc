import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const NO_CHANGES = {
  add_request_headers: {},
  remove_request_headers: [],
  add_response_headers: {},
  remove_response_headers: [],
};

const DEFAULTS = {
  use_remote_address: true,
  xff_num_trusted_hops: 0,
  escaped_slashes: 'reject',
  serve_other_hosts: false,
  ignore: [],
  default_labels: {},
  remote_address_prefix: { ipv4: 32, ipv6: 64 },
  defaults: { ...NO_CHANGES, httpmapping: NO_CHANGES },
};

test('a Module without config has the defaults', () => {
  const [resource] = parseText(documentOf('Module', {}, 'gateway')).resources;
  assert.deepEqual(resource?.spec, { config: DEFAULTS, gateway_id: ['default'] });
});

test("Ambassador's name for it is read with a warning, any other name is rejected", () => {
  assert.deepEqual(problemsOf('Module', {}, 'ambassador'), [
    'warning metadata.name: the name "ambassador" is read as "gateway". Please write it so',
  ]);
  assert.deepEqual(problemsOf('Module', {}, 'tls'), [
    'error metadata.name: the name must be "gateway", not "tls"',
  ]);
});

test('default labels with a bad specifier are left out for their domain only', () => {
  const config = {
    default_labels: { a: { defaults: ['x', { k: 5 }] }, b: { defaults: ['remote_address'] } },
  };
  assert.deepEqual(problemsOf('Module', { config }, 'gateway'), [
    'error spec.config.default_labels.a.defaults[1]: the label "k" must be { header: name }',
  ]);
  const [resource] = parseText(documentOf('Module', { config }, 'gateway')).resources;
  assert.deepEqual(resource?.kind === 'Module' && resource.spec.config.default_labels, {
    b: { defaults: [{ type: 'remote_address' }] },
  });
});

test('a change of headers with an error is left out alone', () => {
  const httpmapping = {
    add_response_headers: { 'access-control-allow-credentials': 'true' },
    remove_request_headers: ['x-inner'],
  };
  const config = { defaults: { httpmapping } };
  assert.deepEqual(problemsOf('Module', { config }, 'gateway'), [
    'error spec.config.defaults.httpmapping.add_response_headers.access-control-allow-credentials: a Mapping may not add the header "access-control-allow-credentials"',
  ]);
  const [resource] = parseText(documentOf('Module', { config }, 'gateway')).resources;
  assert.deepEqual(resource?.kind === 'Module' && resource.spec.config.defaults.httpmapping, {
    ...NO_CHANGES,
    remove_request_headers: ['x-inner'],
  });
});

test('a Module with every label and log field is read as it is written', () => {
  const proxy_log_format =
    '%START_TIME% %DYNAMIC_METADATA(proxy.filters.http.ratelimit:gw.ratelimit.name)% %DYNAMIC_METADATA(proxy.filters.http.ratelimit:gw.ratelimit.retry_after):9%\n';
  const config = { default_label_domain: 'edge', proxy_log_format };
  const [resource] = parseText(documentOf('Module', { config }, 'gateway')).resources;
  assert.deepEqual(resource?.spec, { config: { ...DEFAULTS, ...config }, gateway_id: ['default'] });
});

test('credentials for any origin do not count', () => {
  const config = { cors: { origins: '*', credentials: true } };
  assert.deepEqual(problemsOf('Module', { config }, 'gateway'), [
    'warning spec.config.cors.credentials: `credentials` does not count with the origin `*`: any site could act as the client. List the origins',
  ]);
});

test('a name of the server that cannot stand in a header is left out', () => {
  for (const server_name of ['', ' a', 'a\nb', 'é', 'x'.repeat(101)])
    assert.deepEqual(problemsOf('Module', { config: { server_name } }, 'gateway'), [
      'error spec.config.server_name: a server name has 1 to 100 characters of ASCII, and no white space at its ends',
    ]);
  assert.deepEqual(problemsOf('Module', { config: { server_name: 'My shop/1.0' } }, 'gateway'), []);
});

test('a default of Mappings with an error is left out alone', () => {
  const retry_policy = { retry_on: '5xx' };
  const config = {
    escaped_slashes: 'keep',
    cors: { origins: 'https://a.example/x' },
    load_balancer: { policy: 'random' },
    retry_policy,
  };
  assert.deepEqual(problemsOf('Module', { config }, 'gateway'), [
    'error spec.config.cors.origins: Cannot parse origin "https://a.example/x": write `*`, scheme://host or scheme://host:port, without a path',
    'error spec.config.load_balancer.policy: `policy` must be one of `round_robin`, `least_request`, `ring_hash`, `maglev`, not "random"',
  ]);
  const [resource] = parseText(documentOf('Module', { config }, 'gateway')).resources;
  assert.deepEqual(resource?.spec, {
    config: {
      ...DEFAULTS,
      escaped_slashes: 'keep',
      retry_policy: { retry_on: ['5xx'], num_retries: 1 },
    },
    gateway_id: ['default'],
  });
});

const REFUSED: readonly [config: object, problem: string][] = [
  [
    { use_remote_address: 'no' },
    'use_remote_address: `use_remote_address` must be `true` or `false`, not "no"',
  ],
  [
    { xff_num_trusted_hops: -1 },
    'xff_num_trusted_hops: `xff_num_trusted_hops` must be an integer from 0, not -1',
  ],
  [
    { escaped_slashes: 'drop' },
    'escaped_slashes: `escaped_slashes` must be one of `reject`, `keep`, not "drop"',
  ],
  [{ default_label_domain: '' }, 'default_label_domain: `default_label_domain` must not be empty'],
];

for (const [config, problem] of REFUSED) {
  test(`a Module with ${JSON.stringify(config)} is rejected`, () => {
    assert.deepEqual(problemsOf('Module', { config }, 'gateway'), [`error spec.config.${problem}`]);
  });
}

test("Ambassador's settings that are not served are told with what to write here", () => {
  const config = {
    cluster_request_timeout_ms: 9000,
    envoy_log_format: 'x',
    resolver: 'endpoint',
    use_proxy_proto: true,
    xyz: 1,
  };
  assert.deepEqual(
    problemsOf('Module', { config }, 'gateway').map(line => line.replace(/^.*?: /, '')),
    [
      'unknown field `cluster_request_timeout_ms`. Write `timeout_ms` in each Mapping',
      'unknown field `envoy_log_format`. Write `proxy_log_format`, which is one text',
      'unknown field `resolver`. Write it in each Mapping',
      'unknown field `use_proxy_proto`. Write `protocol: HTTPPROXY` or `HTTPSPROXY` of a Listener',
      'unknown field `xyz`',
    ],
  );
});
