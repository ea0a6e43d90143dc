import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';

const LEAST: Readonly<Record<string, object>> = {
  Mapping: { prefix: '/x/', service: 's' },
  Host: { hostname: 'a.test' },
  TLSContext: { hosts: ['a.test'] },
  Module: { config: {} },
  RateLimitService: { service: 'limiter' },
  RateLimit: { domain: 'gateway', limits: [] },
};

/** What a document with these fields is closed for: `<path> as <the field that it probably is>`. */
function closing(kind: string, fields: object, outside: object = {}): readonly string[] {
  const name = kind === 'Module' ? 'gateway' : 'x';
  const spec = { ...LEAST[kind], ...fields };
  const document = {
    apiVersion: 'gateway.internal/v2',
    kind,
    metadata: { name },
    spec,
    ...outside,
  };
  const { resources, rejected } = collect([
    parseFile('in.yaml', stringify(document), DEFAULT_PARSE_OPTIONS),
  ]);
  const [resource] = [...resources.values(), ...rejected.values()];
  assert.ok(resource, JSON.stringify(document));
  return (resource.unserved ?? []).map(({ path, meant }) => `${path.join('.')} as ${meant}`);
}

const CLOSING: readonly (readonly [kind: string, fields: object, closed: string])[] = [
  ['Mapping', { metod: 'GET' }, 'spec.metod as method'],
  ['Mapping', { methods: ['GET'] }, 'spec.methods as method'],
  ['Mapping', { hots: 'a.test' }, 'spec.hots as host'],
  ['Mapping', { hostnme: 'a.test' }, 'spec.hostnme as hostname'],
  ['Mapping', { header: { a: 'b' } }, 'spec.header as headers'],
  ['Mapping', { regexHeaders: { a: 'b' } }, 'spec.regexHeaders as regex_headers'],
  ['Mapping', { query_parameter: { a: 'b' } }, 'spec.query_parameter as query_parameters'],
  ['Mapping', { prefix_exct: true }, 'spec.prefix_exct as prefix_exact'],
  ['Mapping', { nodegroup: 'inner' }, 'spec.nodegroup as node_group'],
  ['Mapping', { lables: { gateway: [] } }, 'spec.lables as labels'],
  ['Mapping', { shadows: true }, 'spec.shadows as shadow'],
  [
    'Mapping',
    { remove_request_header: ['x-user'] },
    'spec.remove_request_header as remove_request_headers',
  ],
  ['Mapping', { ip_alow: ['192.0.2.0/24'] }, 'spec.ip_alow as ip_allow'],
  ['Host', { hostnames: ['b.test'] }, 'spec.hostnames as hostname'],
  ['Host', { tls_secret: 'a' }, 'spec.tls_secret as tlsSecret'],
  ['Host', { tlsContxt: { name: 'a' } }, 'spec.tlsContxt as tlsContext'],
  [
    'Host',
    { tls: { issuer: 'gateway', cert_requird: true } },
    'spec.tls.cert_requird as cert_required',
  ],
  ['Host', { cert_required: true }, 'spec.cert_required as cert_required'],
  ['Host', { tls: { issuer: 'gateway', crl_secrt: 'a' } }, 'spec.tls.crl_secrt as crl_secret'],
  ['Host', { reqestPolicy: { insecure: {} } }, 'spec.reqestPolicy as requestPolicy'],
  [
    'Host',
    { requestPolicy: { insecur: { action: 'Reject' } } },
    'spec.requestPolicy.insecur as insecure',
  ],
  [
    'Host',
    { requestPolicy: { insecure: { acton: 'Reject' } } },
    'spec.requestPolicy.insecure.acton as action',
  ],
  ['Host', { requestPolicy: { action: 'Reject' } }, 'spec.requestPolicy.action as action'],
  ['Host', { mapping_selectr: { a: 'b' } }, 'spec.mapping_selectr as mapping_selector'],
  ['Host', { selectr: { a: 'b' } }, 'spec.selectr as selector'],
  [
    'Host',
    { mappingSelector: { matchLabel: { a: 'b' } } },
    'spec.mappingSelector.matchLabel as matchLabels',
  ],
  [
    'Host',
    { selector: { match_expression: [{ key: 'a', operator: 'Exists' }] } },
    'spec.selector.match_expression as matchExpressions',
  ],
  ['TLSContext', { cert_requird: true }, 'spec.cert_requird as cert_required'],
  ['TLSContext', { casecret: 'a' }, 'spec.casecret as ca_secret'],
  ['TLSContext', { minTlsVersion: 'v1.3' }, 'spec.minTlsVersion as min_tls_version'],
  ['TLSContext', { hsots: ['b.test'] }, 'spec.hsots as hosts'],
  ['TLSContext', { crl_secrt: 'a' }, 'spec.crl_secrt as crl_secret'],
  ['Module', { config: { ip_alow: ['a'] } }, 'spec.config.ip_alow as ip_allow'],
  ['Module', { config: { ip_denny: ['a'] } }, 'spec.config.ip_denny as ip_deny'],
  [
    'Module',
    { config: { default_lables: { a: {} } } },
    'spec.config.default_lables as default_labels',
  ],
  [
    'Module',
    { config: { defaults: { httpmaping: { remove_request_headers: ['a'] } } } },
    'spec.config.defaults.httpmaping as httpmapping',
  ],
  [
    'Module',
    { config: { defaults: { httpmapping: { remove_request_header: ['a'] } } } },
    'spec.config.defaults.httpmapping.remove_request_header as remove_request_headers',
  ],
  ['Module', { confg: { ip_allow: ['a'] } }, 'spec.confg as config'],
  ['Module', { ip_allow: ['a'] }, 'spec.ip_allow as ip_allow'],
  ['RateLimitService', { failure_mode_den: true }, 'spec.failure_mode_den as failure_mode_deny'],
];
for (const [kind, fields, closed] of CLOSING)
  test(`${JSON.stringify(fields)} closes what a ${kind} covers`, () =>
    assert.deepEqual(closing(kind, fields), [closed]));

test('what stands beside spec closes too', () => {
  assert.deepEqual(closing('Mapping', {}, { method: 'GET' }), ['method as method']);
  assert.deepEqual(closing('Host', {}, { specs: { cert_required: true } }), ['specs as spec']);
});

/**
 * Fields of Ambassador's reference that restrict nothing, served or not, and other unknown ones.
 */
const OPEN: Readonly<Record<string, string>> = {
  Mapping:
    'add_linkerd_headers auth_context_extensions auto_host_rewrite bypass_error_response_overrides circuit_breakers cluster_idle_timeout_ms cluster_max_connection_lifetime_ms cluster_tag dns_type docs grpc health_checks idle_timeout_ms modules outlier_detection precedense priority regex_redirect respect_dns_ttl retry_policy servce stats_name timeout tsl v2BoolHeaders v2ExplicitTLS v3HealthChecks v3StatsName wieght xyz',
  Host: 'acmeProvidr previewUrl preview_url hst xyz',
  TLSContext: 'alpn_protocol secret_namespace snni xyz',
  Module:
    'add_linkerd_headers admin_port allow_chunked_length buffer_limit_bytes cluster_request_timeout_ms diagnostics envoy_log_format envoy_validation_timeout forward_client_cert_details grpc_stats header_case_overrides headers_with_underscores_action liveness_probe max_request_headers_kb merge_slashes preserve_external_request_id proper_case prune_unreachable_routes readiness_probe regex_max_size reject_requests_with_escaped_slashes resolver respect_dns_ttl set_current_client_cert_details service_port statsd strip_matching_host_port suppress_envoy_headers use_proxy_proto xyz',
  RateLimitService: 'protocol_version v3ExplicitTLS grpc timeout xyz',
  RateLimit: 'limit metod xyz',
};
test('unknown fields that restrict nothing close nothing', () => {
  for (const [kind, names] of Object.entries(OPEN))
    for (const name of names.split(' ')) {
      const fields = { [name]: 'value' };
      const written = kind === 'Module' ? { config: fields } : fields;
      assert.deepEqual(closing(kind, written), [], `${kind}.${name}`);
    }
});

test('an unknown field of another object closes nothing where something else is meant', () => {
  assert.deepEqual(closing('Mapping', { cors: { origins: ['*'], header: 'a', metod: 'GET' } }), []);
  assert.deepEqual(closing('Mapping', { retry_policy: { retry_on: '5xx', host: 'a' } }), [
    'spec.retry_policy.host as host',
  ]);
});

for (const value of [false, null, '', [], {}])
  test(`a misspelt restriction of ${JSON.stringify(value)} closes nothing`, () =>
    assert.deepEqual(closing('TLSContext', { cert_requird: value }), []));

test('a key of any length or name is read', () => {
  const keys = ['', '__proto__', 'constructor', 'toString', '0', '\u0000', 'h'.repeat(100_000)];
  for (const key of keys)
    assert.deepEqual(closing('Mapping', JSON.parse(`{${JSON.stringify(key)}: 1}`)), [], key);
});
