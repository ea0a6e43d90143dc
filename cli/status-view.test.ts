import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamFigures } from '#controlplane/figures/figures.ts';
import type { ProxyStatus, Status } from '#controlplane/status/status.ts';
import { type SeenUpstreams, statusView } from './status-view.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

const proxy = (node: string, standing: ProxyStatus['standing'], nack?: string): ProxyStatus => ({
  node,
  group: 'edge',
  address: '127.0.0.1:1',
  standing,
  types: [{ type: 'Listener', ...(nack === undefined ? {} : { nack }) }],
});

const status = (more: Partial<Status>): Status => ({
  ready: true,
  resources: [],
  problems: [],
  proxies: [],
  certificates: [],
  ...more,
});

const COUNTS = {
  requests: 0,
  answers: 0,
  serverErrors: 0,
  late: 0,
  timeouts: 0,
  connectFailures: 0,
  connectTimeouts: 0,
  tlsFailures: 0,
  noHealthy: 0,
  updateFailures: 0,
  updatesEmpty: 0,
  updates: 0,
  checks: 0,
  checkFailures: 0,
  ejections: 0,
  failedCalls: 0,
};

const upstream = (cluster: string, more: Partial<UpstreamFigures> = {}): UpstreamFigures => ({
  group: 'edge',
  cluster,
  origins: [],
  proxies: 1,
  members: 2,
  healthy: 2,
  lastMinute: COUNTS,
  last15Minutes: COUNTS,
  lastFailure: undefined,
  ...more,
});

const view = (shown: Status, figures?: SeenUpstreams, rows = 10, rates = false) =>
  statusView({ status: shown, figures, now: NOW, rows, rates });

test('the first line says whether all is well', () => {
  const resource = { id: 'Mapping/default/a', file: 'a.yaml', line: 1 };
  const shown = status({
    resources: [
      { ...resource, state: 'in force' },
      { ...resource, state: 'in force' },
      { ...resource, state: 'closed' },
    ],
    proxies: [proxy('a', 'settled'), proxy('b', 'rejected', 'no'), proxy('c', 'settled')],
    problems: [
      {
        ...resource,
        severity: 'warning',
        kind: 'Mapping',
        namespace: 'd',
        name: 'a',
        message: 'm',
      },
    ],
  });
  assert.equal(
    view(shown)[0],
    'ready | 2 in force, 1 closed | 1 rejecting, 2 in sync | 0 errors, 1 warning',
  );
  assert.deepEqual(view(status({})), ['ready | no resources | no proxies | 0 errors, 0 warnings']);
  assert.match(view(status({ ready: false, reason: 'why' }))[0] ?? '', /^not ready: why \|/);
});

test('each proxy has one word, and the worst stand first', () => {
  const proxies = [
    proxy('a', 'settled'),
    proxy('b', 'waiting'),
    proxy('c', 'rejected', 'port 80 is taken'),
  ];
  assert.deepEqual(view(status({ proxies })).slice(1), [
    'Proxies',
    '  rejecting c (edge), its Listener: port 80 is taken',
    '  behind    b (edge)',
    '  in sync   a (edge)',
  ]);
});

test('upstreams that fail stand first, with their last failure', () => {
  const at = { at: NOW, flags: ['UF'], upstream: undefined, mapping: undefined };
  const upstreams = [
    upstream('a', { lastMinute: { ...COUNTS, requests: 90, serverErrors: 1 } }),
    upstream('b', { healthy: 1, lastFailure: { ...at, text: 'connection refused' } }),
    upstream('c', { members: 0, healthy: 0 }),
  ];
  assert.deepEqual(view(status({}), { on: true, upstreams }).slice(2), [
    '  failing   b (of edge), 1 of 2 instances, last: connection refused',
    '  failing   c (of edge), 0 of 0 instances',
    '  healthy   a (of edge), 2 of 2 instances',
  ]);
  const [, , , , last] = view(status({}), { on: true, upstreams }, 10, true);
  assert.equal(last, '  healthy   a (of edge), 2 of 2 instances, 1.5/s, 1 error');
  assert.match(view(status({}), { on: false, upstreams: [] })[2] ?? '', /FIGURES/);
});

test('an upstream that answers nothing in time fails', () => {
  const late = { ...COUNTS, requests: 20, late: 20 };
  const slow = upstream('slow', { lastMinute: late, last15Minutes: late });
  const lines = view(status({}), { on: true, upstreams: [upstream('a'), slow] });
  assert.deepEqual(lines.slice(2), [
    '  failing   slow (of edge), 2 of 2 instances',
    '  healthy   a (of edge), 2 of 2 instances',
  ]);
});

test('certificates have their days left', () => {
  const of = { host: 'Host/default/shop', source: 'secret', secret: 's' } as const;
  const facts = (notAfter: string) => ({ notAfter, issuer: 'CN=x', serial: '1' });
  const certificates = [
    { ...of, hostname: 'a.test', facts: facts('2025-12-31T23:59:59.000Z') },
    { ...of, hostname: 'b.test', facts: facts('2026-01-01T23:59:59.000Z') },
    { ...of, hostname: 'c.test', facts: facts('2026-01-13T00:00:00.000Z') },
    { ...of, hostname: 'd.test', source: 'authority' } as const,
    { ...of, hostname: 'e.test', source: 'files' } as const,
  ];
  assert.deepEqual(view(status({ certificates })).slice(1), [
    'Certificates',
    '  expired   a.test (Host/default/shop), until 2025-12-31, issuer CN=x',
    '  0 days    b.test (Host/default/shop), until 2026-01-01, issuer CN=x',
    '  12 days   c.test (Host/default/shop), until 2026-01-13, issuer CN=x',
    '  renewed   d.test (Host/default/shop), by the built-in authority',
    '  in files  e.test (Host/default/shop): see sds_certificate_seconds_left of the discovery service',
  ]);
});

test('a long section is cut, and a name runs nothing on a terminal', () => {
  const proxies = Array.from({ length: 200 }, (_, index) =>
    proxy(index === 7 ? '\u001b[2J\u202e' : `p${index}`, index === 7 ? 'waiting' : 'settled'),
  );
  const lines = view(status({ proxies }), undefined, 3);
  assert.equal(lines.length, 6);
  assert.deepEqual(
    [lines[2], lines[5]],
    ['  behind    \\u001b[2J\\u202e (edge)', '  and 197 more'],
  );
});
