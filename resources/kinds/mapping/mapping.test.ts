import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const MINIMAL = { prefix: '/user', service: 'user' };

function specOf(spec: object): unknown {
  const [resource] = parseText(documentOf('Mapping', spec)).resources;
  return resource?.spec;
}

test('the host that stands for none in Ambassador is an error', () => {
  assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, host: '_skip_mapping_with_empty_host_' }), [
    'error spec.host: this Mapping had no `hostname`, since a Host chose it by its `mappingSelector`: remove this line to be chosen by labels, or write the `hostname` of that Host',
  ]);
});

test("Ambassador's fields that are not served are told with what to write here", () => {
  const fields = { add_linkerd_headers: true, bypass_error_response_overrides: true };
  assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields }), [
    'warning spec.add_linkerd_headers: unknown field `add_linkerd_headers`. Write `l5d-dst-override` in `add_request_headers`',
    "warning spec.bypass_error_response_overrides: unknown field `bypass_error_response_overrides`. The Module's bodies count here too. Write `error_response_overrides` in the other Mappings",
  ]);
});

test('a Mapping needs a prefix and a service, the rest has defaults', () => {
  assert.deepEqual(specOf(MINIMAL), {
    host: '*',
    host_regex: false,
    prefix: '/user',
    prefix_exact: false,
    prefix_regex: false,
    case_sensitive: true,
    method_regex: false,
    headers: {},
    regex_headers: {},
    query_parameters: {},
    regex_query_parameters: {},
    precedence: 0,
    node_group: 'edge',
    service: { scheme: 'http', host: 'user', port: 80, portGiven: false },
    host_redirect: false,
    redirect_response_code: 301,
    rewrite: '/',
    auto_host_rewrite: false,
    add_request_headers: {},
    remove_request_headers: [],
    add_response_headers: {},
    remove_response_headers: [],
    timeout_ms: 3000,
    allow_upgrade: [],
    use_websocket: false,
    connect_timeout_ms: 3000,
    resolver: 'dns',
    tls: false,
    shadow: false,
    priority: 'default',
    enable_ipv4: true,
    respect_dns_ttl: false,
    grpc: false,
    bypass_auth: false,
    closed: false,
    labels: {},
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('Mapping', {}), [
    'error spec.prefix: `prefix` is required: a string',
    'error spec.service: `service` is required: [http://|https://]name[.namespace][:port]',
  ]);
});

const REFUSED: readonly [fields: object, problem: string][] = [
  [{ prefix: 'user' }, 'error spec.prefix: Cannot parse path "user": it must begin with "/"'],
  [{ prefix: '' }, 'error spec.prefix: `prefix` must not be empty'],
  [
    { prefix: '/a b' },
    'error spec.prefix: Cannot parse path "/a b": " " is never part of a path. Write it percent-encoded',
  ],
  [
    { prefix: '/a\n' },
    'error spec.prefix: Cannot parse path "/a\\n": "\\n" is never part of a path. Write it percent-encoded',
  ],
  [
    { prefix: '/a?b' },
    'error spec.prefix: Cannot parse path "/a?b": "?" is never part of a path: queries are not compared',
  ],
  [{ prefix: 5 }, 'error spec.prefix: `prefix` must be a string, not 5'],
  [
    { prefix_exact: 'yes' },
    'error spec.prefix_exact: `prefix_exact` must be `true` or `false`, not "yes"',
  ],
  [
    { prefix: '/a(b', prefix_regex: true },
    'error spec.prefix: Cannot parse regular expression "/a(b": missing closing ): `/a(b`',
  ],
  [
    { prefix_exact: true, prefix_regex: true },
    'error spec.prefix_exact: `prefix_exact` and `prefix_regex` exclude each other',
  ],
  [
    { host: 'a.b:80' },
    'error spec.host: Cannot parse host "a.b:80": it may not have a port or brackets. Ports are ignored when hosts are compared',
  ],
  [
    { host: '*a.b' },
    'error spec.host: Cannot parse host "*a.b": a "*" must be alone or the whole first part, as in "*.example.com"',
  ],
  [
    { host: '' },
    'error spec.host: Cannot parse host "": "" is not a host name: a part between its dots is empty',
  ],
  [
    { method: 'G T' },
    'error spec.method: "G T" is not a request method: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [
    { headers: { 'x y': true } },
    'error spec.headers["x y"]: "x y" is not a header name: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [
    { headers: { '\u212aelvin': true } },
    'error spec.headers["\u212aelvin"]: "\u212aelvin" is not a header name: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [
    { headers: { '': true } },
    'error spec.headers[""]: "" is not a header name: letters, digits and !#$%&\'*+-.^_`|~ only',
  ],
  [
    { headers: { ':status': '200' } },
    'error spec.headers[":status"]: ":status" is no header of a request. Of those with ":" there are :authority, :method, :path, :scheme',
  ],
  [
    { headers: { a: '1', A: '2' } },
    'error spec.headers.a: the header "a" is named twice. Header names have no case',
  ],
  [
    { headers: JSON.parse('{"__proto__": "a"}') },
    'error spec.headers.__proto__: "__proto__" may not be a key here',
  ],
  [{ headers: { a: 'b\u0001' } }, 'error spec.headers.a: a header value has no control characters'],
  [
    { headers: { 'x-key': 12345 } },
    'error spec.headers.x-key: `x-key` must be a string (the exact value) or true (any value)',
  ],
  [
    { service: 'a:0' },
    'error spec.service: Cannot parse service "a:0": the port "0" is not a number from 1 to 65535',
  ],
  [{ rewrite: 'user' }, 'error spec.rewrite: Cannot parse path "user": it must begin with "/"'],
  [
    { host_rewrite: 'http://a' },
    'error spec.host_rewrite: Cannot parse host "http://a": write name or name:port',
  ],
  [
    { timeout_ms: '3s' },
    'error spec.timeout_ms: `timeout_ms` must be an integer of milliseconds from 0 to 2147483647, not "3s"',
  ],
  [
    { timeout_ms: -1 },
    'error spec.timeout_ms: `timeout_ms` must be an integer of milliseconds from 0 to 2147483647, not -1',
  ],
  [
    { timeout_ms: 1.5 },
    'error spec.timeout_ms: `timeout_ms` must be an integer of milliseconds from 0 to 2147483647, not 1.5',
  ],
  [
    { connect_timeout_ms: 0 },
    'error spec.connect_timeout_ms: `connect_timeout_ms` must be an integer of milliseconds from 1 to 2147483647, not 0',
  ],
  [
    { allow_upgrade: ['websocket', 'Connect'] },
    'error spec.allow_upgrade[1]: "Connect" is not served: Filters and limits would not see the requests inside',
  ],
  ...['h2c', 'HTTP/2.0', 'TLS/1.2', 'connect-udp', 'connect-tcp'].map(
    (protocol): [object, string] => [
      { allow_upgrade: [protocol] },
      `error spec.allow_upgrade[0]: "${protocol}" is not served: Filters and limits would not see the requests inside`,
    ],
  ),
  ...['', 'web socket', 'websocket,', 'spdy/3/1', 'spdy/', '/3.1'].map(
    (protocol): [object, string] => [
      { allow_upgrade: [protocol] },
      `error spec.allow_upgrade[0]: "${protocol}" is not a protocol: a name as \`websocket\`, or name/version`,
    ],
  ),
  [
    { allow_upgrade: 'websocket' },
    'error spec.allow_upgrade: `allow_upgrade` must be a list, not "websocket"',
  ],
  [
    { use_websocket: 'yes' },
    'error spec.use_websocket: `use_websocket` must be `true` or `false`, not "yes"',
  ],
  [
    { weight: 101 },
    'error spec.weight: `weight` must be an integer of percent from 0 to 100, not 101',
  ],
  [{ precedence: 'high' }, 'error spec.precedence: `precedence` must be an integer, not "high"'],
  [
    { resolver: 'sd' },
    'error spec.resolver: `resolver` must be one of `dns`, `sds`, `kubernetes-service`, `endpoint`, `kubernetes-endpoint`, not "sd", did you mean `sds`?',
  ],
  [
    { node_group: 'Edge' },
    'error spec.node_group: "Edge" is not a node group: 1 to 63 lower-case letters, digits and "-", no "-" at the ends',
  ],
  [{ gateway_id: [] }, 'error spec.gateway_id: `gateway_id` must not be empty'],
  ...Object.entries({
    '5': 5,
    '""': '',
    '"Upstream"': 'Upstream',
    'a list': ['upstream'],
    'a map': { namespace: 'a' },
  }).map(([not, tls]): [object, string] => [
    { tls },
    `error spec.tls: \`tls\` must be \`true\`, the name of a TLSContext, or \`{ name, namespace }\`, not ${not}`,
  ]),
  [
    { tls: 'upstream', hop_tls: true },
    'error spec.hop_tls: `hop_tls` and `tls` exclude each other',
  ],
  [{ tls: true, hop_tls: true }, 'error spec.hop_tls: `hop_tls` and `tls` exclude each other'],
  [
    { headers: { 'x-key': false } },
    'error spec.headers.x-key: `x-key` must be a string (the exact value) or true (any value)',
  ],
  [
    { headers: { 'x-key': { regex: 'a' } } },
    'error spec.headers.x-key: `x-key` must be a string (the exact value) or true (any value)',
  ],
  [
    { hostname: 'a.b:80' },
    'error spec.hostname: Cannot parse host "a.b:80": it may not have a port or brackets. Ports are ignored when hosts are compared',
  ],
  [
    { labels: ['a'] },
    'error spec.labels: `labels` must be a map from label domain to its list of label groups, not a list',
  ],
];

for (const [fields, problem] of REFUSED) {
  test(`a Mapping with ${JSON.stringify(fields)} is rejected`, () => {
    const document = documentOf('Mapping', { ...MINIMAL, ...fields });
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields }), [problem]);
    assert.deepEqual(parseText(document).resources, []);
  });
}

const WARNED: readonly [fields: object, problem: string][] = [
  [{ srvice: 'a' }, 'warning spec.srvice: unknown field `srvice`, did you mean `service`?'],
  [{ xyz: 'a' }, 'warning spec.xyz: unknown field `xyz`'],
  [
    { Timeout_MS: 5 },
    'warning spec.Timeout_MS: `Timeout_MS` is read as `timeout_ms`. Please spell it so',
  ],
  [
    { prefix: '/a/../b' },
    'warning spec.prefix: it matches nothing: "//", "/./" and "/../" are resolved before paths are compared',
  ],
  ...['user/.*', '^user', '(?i)user/[0-9]+', '%2Fuser'].map((prefix): [object, string] => [
    { prefix, prefix_regex: true },
    'warning spec.prefix: it matches nothing: a path begins with "/", and the expression is for the whole path',
  ]),
  ...['GET|POST', '*', 'P.*', '^GET$'].map((method): [object, string] => [
    { method },
    'warning spec.method: it matches nothing: no client is known to send such a method. `method_regex: true` makes it an expression',
  ]),
  [
    { case_sensitive: false, prefix_regex: true },
    'warning spec.case_sensitive: `case_sensitive` has no effect with `prefix_regex`: begin the expression with `(?i)`',
  ],
  [
    { tls: 'upstream', host_redirect: true },
    'warning spec.tls: `tls` has no effect with `host_redirect`: no service is asked. With `https://` in `service` clients are sent there by https',
  ],
  [{ TLS: 'upstream' }, 'warning spec.TLS: `TLS` is read as `tls`. Please spell it so'],
  [
    { regex_headers: { X_Key: 'a' } },
    'warning spec.regex_headers.x_key: it matches nothing: the edge answers 400 to a header with "_" in its name',
  ],
  [
    { headers: { X_Key: 'a' } },
    'warning spec.headers.x_key: it matches nothing: the edge answers 400 to a header with "_" in its name',
  ],
  [
    { prefix_regex: true, rewrite: '/b' },
    'warning spec.rewrite: `rewrite` is ignored with `prefix_regex`',
  ],
];

for (const [fields, problem] of WARNED) {
  test(`a Mapping with ${JSON.stringify(fields)} is served with a warning`, () => {
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields }), [problem]);
    assert.equal(parseText(documentOf('Mapping', { ...MINIMAL, ...fields })).resources.length, 1);
  });
}

for (const prefix of [
  '/user',
  '.*/user',
  '(/a|/b)',
  'a|/b',
  'a?/b',
  'a*/b',
  '[/]a',
  '\\/a',
  '(?i)/a',
])
  test(`an expression ${prefix} may match a path`, () =>
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, prefix, prefix_regex: true }), []));

const READ_AS: readonly [fields: object, spec: object][] = [
  [{ host: '*.Example.COM' }, { host: '*.example.com' }],
  [{ hostname: '*.example.com' }, { host: '*.example.com' }],
  [{ method: 'get' }, { method: 'GET' }],
  [{ method: 'Mkcol' }, { method: 'Mkcol' }],
  [
    { method: 'GET|P(OS|U)T', method_regex: true },
    { method: 'GET|P(OS|U)T', method_regex: true },
  ],
  [
    { host: 'API[.]example.com', host_regex: true },
    { host: 'API[.]example.com', host_regex: true },
  ],
  [
    { regex_headers: { Host: 'a.*', 'X-B': 'b' } },
    { regex_headers: { ':authority': 'a.*', 'x-b': 'b' } },
  ],
  [
    { query_parameters: { A: 'b', a: true }, regex_query_parameters: { a: '[0-9]+' } },
    { query_parameters: { A: 'b', a: true }, regex_query_parameters: { a: '[0-9]+' } },
  ],
  [{ headers: { Host: 'a', 'X-B': true } }, { headers: { ':authority': 'a', 'x-b': true } }],
  [{ resolver: 'endpoint' }, { resolver: 'sds' }],
  [{ resolver: 'kubernetes-service' }, { resolver: 'dns' }],
  [{ rewrite: '' }, { rewrite: '' }],
  [{ timeout_ms: 0 }, { timeout_ms: 0 }],
  [{ allow_upgrade: ['WebSocket', 'SPDY/3.1'] }, { allow_upgrade: ['websocket', 'spdy/3.1'] }],
  [{ use_websocket: true }, { use_websocket: true }],
  [{ timeout_ms: null }, { timeout_ms: 3000 }],
  [{ Timeout_ms: 7 }, { timeout_ms: 7 }],
  [
    { prefix: '/a/[0-9]+', prefix_regex: true },
    { prefix: '/a/[0-9]+', prefix_regex: true },
  ],
  [{ ambassador_id: 'default' }, { gateway_id: ['default'] }],
  [{ gateway_id: ['a', 'default'] }, { gateway_id: ['a', 'default'] }],
  [{ labels: { gateway: null, other: [] } }, { labels: {} }],
  [
    {
      labels: {
        gateway: [{ g: ['remote_address', { generic_key: 'v' }, { k: { header: 'Host' } }] }],
      },
    },
    {
      labels: {
        gateway: [
          {
            name: 'g',
            specifiers: [
              { type: 'remote_address' },
              { type: 'generic_key', value: 'v' },
              { type: 'request_header', key: 'k', header: ':authority' },
            ],
          },
        ],
      },
    },
  ],
];

for (const [fields, expected] of READ_AS) {
  test(`a Mapping with ${JSON.stringify(fields)} is read as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(specOf({ ...MINIMAL, ...fields }), {
      ...(specOf(MINIMAL) as object),
      ...expected,
    });
  });
}

test('a bad label group is left out with a Problem, the others and the Mapping stand', () => {
  const labels = {
    gateway: [
      { bad: ['a', { k: { header: 'x y' } }] },
      { good: ['b'] },
      { two: ['c'], keys: ['d'] },
    ],
  };
  assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, labels }), [
    'error spec.labels.gateway[0].bad[1]: "x y" is not a header name: letters, digits and !#$%&\'*+-.^_`|~ only',
    'error spec.labels.gateway[2]: a label group is a map with one key, its name, not 2. Begin each group with its own "-"',
  ]);
  assert.deepEqual(specOf({ ...MINIMAL, labels }), {
    ...(specOf(MINIMAL) as object),
    labels: { gateway: [{ name: 'good', specifiers: [{ type: 'generic_key', value: 'b' }] }] },
  });
});

test('a prefix that ends within a segment with a dot is no mistake', () => {
  assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, prefix: '/.' }), []);
});

test('a field that is written twice under two names is rejected', () => {
  assert.deepEqual(
    problemsOf('Mapping', { ...MINIMAL, gateway_id: 'default', ambassador_id: 'default' }),
    ['error spec.ambassador_id: `ambassador_id` and `gateway_id` are the same field. Keep one'],
  );
});

test('a header name with "_" is right where the proxies let it in', () => {
  assert.deepEqual(
    problemsOf('Mapping', { ...MINIMAL, node_group: 'user', headers: { x_key: true } }),
    [],
  );
});

test('what is wrong between fields is told together with what is wrong in others', () => {
  const spec = {
    ...MINIMAL,
    prefix: 'user',
    prefix_exact: true,
    timeout_ms: '3s',
    hop_tls: true,
    tls: 'upstream',
  };
  assert.deepEqual(problemsOf('Mapping', spec), [
    'error spec.timeout_ms: `timeout_ms` must be an integer of milliseconds from 0 to 2147483647, not "3s"',
    'error spec.prefix: Cannot parse path "user": it must begin with "/"',
    'error spec.hop_tls: `hop_tls` and `tls` exclude each other',
  ]);
});

const UNREADABLE: readonly object[] = [
  { hostname: 'a.test', host: 'b.test' },
  { regex_headers: { a: '(' } },
  { host: '(', host_regex: true },
  { method: '(', method_regex: true },
  { query_parameters: { a: 5 } },
  { Case_Sensitive: 'no' },
];

for (const fields of UNREADABLE) {
  test(`a rejected Mapping with ${JSON.stringify(fields)} closes no requests, since it is not known which`, () => {
    const { rejected } = parseText(documentOf('Mapping', { ...MINIMAL, ...fields }));
    assert.deepEqual(
      rejected.map(({ match }) => match),
      [undefined],
    );
  });
}
