import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import { checkProxyConfig, proxyConfig } from './proxy-config.ts';

/** The routing shape, with each type of cluster. */
const EXAMPLE = {
  node_group: 'edge',
  listener: { port: 8080 },
  virtual_hosts: [
    {
      name: 'backend',
      domains: ['*'],
      routes: [
        { timeout_ms: 0, prefix: '/user', cluster: 'user' },
        { prefix: '/dns', cluster: 'dns', timeout_ms: 500, allow_upgrade: ['WebSocket'] },
      ],
    },
  ],
  clusters: [
    {
      name: 'user',
      connect_timeout_ms: 250,
      type: 'sds',
      service_name: 'usersvc',
      lb_type: 'round_robin',
      features: 'http2',
    },
    { name: 'dns', type: 'strict_dns', hosts: [{ url: 'tcp://user:5000' }] },
    {
      name: 'own',
      type: 'static',
      hosts: [{ url: 'tcp://127.0.0.1:5000' }, { url: 'tcp://[::1]:5000' }],
    },
  ],
  cluster_manager: {
    sds: {
      cluster: {
        name: 'sds',
        connect_timeout_ms: 250,
        type: 'strict_dns',
        lb_type: 'round_robin',
        hosts: [{ url: 'tcp://sds:8080' }],
      },
      refresh_delay_ms: 15000,
    },
  },
};

test('the shape is read, every field of it', () => {
  const parsed = parseText(documentOf('ProxyConfig', EXAMPLE));
  assert.deepEqual(parsed.problems, []);
  assert.deepEqual(parsed.resources[0]?.spec, {
    node_group: 'edge',
    listener: { address: '127.0.0.1', port: 8080 },
    virtual_hosts: [
      {
        name: 'backend',
        domains: ['*'],
        routes: [
          { prefix: '/user', cluster: 'user', timeout_ms: 0, allow_upgrade: [] },
          { prefix: '/dns', cluster: 'dns', timeout_ms: 500, allow_upgrade: ['websocket'] },
        ],
      },
    ],
    clusters: [
      {
        name: 'user',
        lb_type: 'round_robin',
        hosts: [],
        connect_timeout_ms: 250,
        type: 'sds',
        service_name: 'usersvc',
        features: 'http2',
      },
      {
        name: 'dns',
        lb_type: 'round_robin',
        hosts: [{ host: 'user', port: 5000 }],
        connect_timeout_ms: 250,
        type: 'strict_dns',
      },
      {
        name: 'own',
        lb_type: 'round_robin',
        hosts: [
          { host: '127.0.0.1', port: 5000 },
          { host: '::1', port: 5000 },
        ],
        connect_timeout_ms: 250,
        type: 'static',
      },
    ],
    cluster_manager: {
      sds: {
        cluster: {
          name: 'sds',
          lb_type: 'round_robin',
          hosts: [{ host: 'sds', port: 8080 }],
          connect_timeout_ms: 250,
          type: 'strict_dns',
        },
        refresh_delay_ms: 15000,
      },
    },
    gateway_id: ['default'],
  });
});

test('a route without timeout_ms has none', () => {
  const virtual_hosts = [{ name: 'v', domains: ['*'], routes: [{ prefix: '/', cluster: 'own' }] }];
  const [resource] = parseText(documentOf('ProxyConfig', { ...EXAMPLE, virtual_hosts })).resources;
  assert.equal(
    resource?.kind === 'ProxyConfig' && resource.spec.virtual_hosts[0]?.routes[0]?.timeout_ms,
    0,
  );
});

test('a listener has one address, however it is spelt', () => {
  const addresses = ['2001:db8::1', '2001:DB8:0:0:0:0:0:1'].map(address => {
    const [resource] = parseText(
      documentOf('ProxyConfig', { ...EXAMPLE, listener: { port: 80, address } }),
    ).resources;
    return resource?.kind === 'ProxyConfig' ? resource.spec.listener?.address : undefined;
  });
  assert.deepEqual(addresses, ['2001:db8::1', '2001:db8::1']);
});

const host = (fields: object) => ({ virtual_hosts: [{ name: 'v', domains: ['*'], ...fields }] });
const cluster = (fields: object) => ({
  virtual_hosts: [],
  clusters: [{ name: 'c', type: 'sds', ...fields }],
});
const manager = (fields: object) => ({
  cluster_manager: {
    sds: {
      cluster: { name: 's', type: 'static', hosts: [{ url: 'tcp://127.0.0.1:1' }], ...fields },
    },
  },
});

const REFUSED: readonly [fields: object, problems: readonly string[]][] = [
  [{ node_group: null }, ['spec.node_group: `node_group` is required: the name of a node group']],
  [{ listener: { port: 0 } }, ['spec.listener.port: `port` must be a port from 1 to 65535, not 0']],
  [
    { listener: { port: 70000 } },
    ['spec.listener.port: `port` must be a port from 1 to 65535, not 70000'],
  ],
  [
    { listener: { port: 80, address: 'localhost' } },
    ['spec.listener.address: "localhost" is not an IP address'],
  ],
  [host({ name: '' }), ['spec.virtual_hosts[0].name: `name` must not be empty']],
  [host({ domains: [] }), ['spec.virtual_hosts[0].domains: `domains` must not be empty']],
  [
    host({ domains: ['A.b', 'a.B'] }),
    [
      'spec.virtual_hosts[0].domains[1]: the domain "a.b" is listed twice. A request could not tell where to go',
    ],
  ],
  [
    host({ routes: [{ prefix: '/', cluster: 'usr' }] }),
    [
      'spec.virtual_hosts[0].routes[0].cluster: there is no cluster "usr" in `clusters`, did you mean `user`?',
    ],
  ],
  [
    host({ routes: [{ prefix: 'x', cluster: 'user' }] }),
    ['spec.virtual_hosts[0].routes[0].prefix: Cannot parse path "x": it must begin with "/"'],
  ],
  [
    host({ routes: ['/user'] }),
    ['spec.virtual_hosts[0].routes[0]: an item of `routes` must be a map, not "/user"'],
  ],
  [
    {
      virtual_hosts: [
        { name: 'v', domains: ['a'] },
        { name: 'v', domains: ['b'] },
      ],
    },
    ['spec.virtual_hosts[1].name: there is another virtual host named "v"'],
  ],
  [
    cluster({ hosts: [{ url: 'tcp://a:1' }] }),
    [
      'spec.clusters[0].hosts: cluster "c" has type sds: its members come from the discovery service, leave out `hosts`',
    ],
  ],
  [
    cluster({ type: 'strict_dns' }),
    ['spec.clusters[0]: cluster "c" has type strict_dns and no `hosts`'],
  ],
  [
    cluster({ type: 'static', hosts: [{ url: 'tcp://a:1' }] }),
    [
      'spec.clusters[0].hosts[0].url: cluster "c" has type static: "a" must be an IP address. Use type strict_dns for names',
    ],
  ],
  [
    cluster({ type: 'strict_dns', hosts: [{ url: 'tcp://a:1' }], service_name: 'x' }),
    ['spec.clusters[0].service_name: `service_name` belongs to clusters of type sds only'],
  ],
  [
    cluster({ type: 'strict_dns', hosts: [{ url: 'http://a:1' }] }),
    ['spec.clusters[0].hosts[0].url: Cannot parse url "http://a:1": write tcp://host:port'],
  ],
  [
    cluster({ type: 'strict_dns', hosts: [{ url: 'tcp://a' }] }),
    [
      'spec.clusters[0].hosts[0].url: Cannot parse url "tcp://a": it has no port. Write tcp://host:port',
    ],
  ],
  [
    cluster({ type: 'dns' }),
    ['spec.clusters[0].type: `type` must be one of `strict_dns`, `static`, `sds`, not "dns"'],
  ],
  [
    cluster({ lb_type: 'random' }),
    ['spec.clusters[0].lb_type: `lb_type` must be one of `round_robin`, not "random"'],
  ],
  [
    cluster({ features: 'http3' }),
    [
      'spec.clusters[0].features: `features` must be one of `http2`, not "http3", did you mean `http2`?',
    ],
  ],
  [
    cluster({ connect_timeout_ms: 0 }),
    [
      'spec.clusters[0].connect_timeout_ms: `connect_timeout_ms` must be an integer of milliseconds from 1 to 2147483647, not 0',
    ],
  ],
  [
    {
      virtual_hosts: [],
      clusters: [
        { name: 'c', type: 'sds' },
        { name: 'c', type: 'sds' },
      ],
    },
    ['spec.clusters[1].name: there is another cluster named "c"'],
  ],
  [
    manager({ name: 'user' }),
    ['spec.cluster_manager.sds.cluster.name: there is another cluster named "user"'],
  ],
  [
    manager({ type: 'sds' }),
    [
      'spec.cluster_manager.sds.cluster.type: `type` must be one of `strict_dns`, `static`, not "sds"',
    ],
  ],
  [
    manager({ hosts: [] }),
    ['spec.cluster_manager.sds.cluster: cluster "s" has type static and no `hosts`'],
  ],
];

for (const [fields, problems] of REFUSED) {
  test(`a ProxyConfig with ${JSON.stringify(fields)} is rejected`, () => {
    const spec = { ...EXAMPLE, ...fields };
    assert.deepEqual(
      problemsOf('ProxyConfig', spec),
      problems.map(problem => `error ${problem}`),
    );
    assert.deepEqual(parseText(documentOf('ProxyConfig', spec)).resources, []);
  });
}

test('sds inside clusters, where it does not belong, is warned of', () => {
  const clusters = [{ name: 'c', type: 'sds', cluster_manager: {} }];
  assert.deepEqual(problemsOf('ProxyConfig', { node_group: 'g', clusters }), [
    'warning spec.clusters[0].cluster_manager: unknown field `cluster_manager`',
  ]);
});

test('what is wrong between fields is told together with what is wrong in others', () => {
  const clusters = [{ name: 'a', type: 'static', hosts: [] }];
  const virtual_hosts = [{ name: 'x', domains: ['*'], routes: [{ prefix: '/', cluster: 'b' }] }];
  const at = (spec: object) => problemsOf('ProxyConfig', spec).map(line => line.split(' ')[1]);
  assert.deepEqual(at({ node_group: 'Edge', clusters, virtual_hosts }), [
    'spec.node_group:',
    'spec.clusters[0]:',
    'spec.virtual_hosts[0].routes[0].cluster:',
  ]);
  assert.deepEqual(at({ node_group: 'edge', clusters: 'a', virtual_hosts }), ['spec.clusters:']);
});

test('hop_tls of the edge is warned of: whoever comes is asked for no certificate of a proxy', () => {
  const withHop = (node_group: string, hop_tls: boolean) =>
    problemsOf('ProxyConfig', { node_group, listener: { port: 8080, hop_tls } });
  assert.deepEqual(withHop('edge', true), [
    'warning spec.listener.hop_tls: `hop_tls` has no effect at the edge: it demands the certificates of proxies. Those of clients are demanded by `cert_required` of a Host',
  ]);
  assert.deepEqual([withHop('edge', false), withHop('inner', true)], [[], []]);
});

test('at most as many proxies as at least is an error of the larger number', () => {
  const deployment = proxyConfig.schema.parse({
    node_group: 'edge',
    deployment: { min_replicas: 5, max_replicas: 4 },
  });
  assert.deepEqual(
    checkProxyConfig(deployment).map(({ message }) => message),
    ['`max_replicas` is 4: want 5, which is `min_replicas`, or more'],
  );
});
