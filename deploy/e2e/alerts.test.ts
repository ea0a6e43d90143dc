import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { findTool } from '#launcher/testing/find-tool.ts';
import { ROOT } from '../testing/compose-file.ts';

const promtool = findTool('promtool');
const FILE = join(ROOT, 'deploy', 'kubernetes', 'monitoring', 'prometheus-rules.yaml');

type Rule = {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};
type Rules = { readonly groups: readonly { readonly rules: readonly Rule[] }[] };

const { spec } = parse(readFileSync(FILE, 'utf8')) as { spec: Rules };
const rules = new Map(spec.groups.flatMap(group => group.rules.map(rule => [rule.alert, rule])));

/** Values of a series, a minute apart. Source: Prometheus' page "Unit testing for rules". */
type Values = string;
type Case = {
  /** Series by name, with values in trouble and values without. */
  readonly series: Readonly<Record<string, readonly [trouble: Values, well: Values]>>;
  /** Labels of the alert, beside those of its rule. */
  readonly labels?: Readonly<Record<string, string>>;
};

const RISING = '0+60x30';
const FLAT = '60x30';
const ZERO = '0x30';
const ONE = '1x30';
const GATEWAY = { namespace: 'shop', envoy_http_conn_manager_prefix: 'web-0123456789abcdef' };
const EDGE = 'namespace="shop",envoy_http_conn_manager_prefix="web-0123456789abcdef"';
const CLUSTER = 'namespace="gateway",envoy_cluster_name="user-service"';
const OF_CLUSTER = { namespace: 'gateway', envoy_cluster_name: 'user-service' };
const PROXY = 'namespace="gateway",instance="edge-1:9902"';
const OF_NAMESPACE = { namespace: 'gateway' };
const DAY_S = 86_400;

const CASES: Readonly<Record<string, Case>> = {
  GatewayServerErrors: {
    series: {
      [`envoy_http_downstream_rq_xx{${EDGE},envoy_response_code_class="5"}`]: ['0+4x30', '0+2x30'],
      [`envoy_http_downstream_rq_total{${EDGE}}`]: ['0+60x30', '0+60x30'],
      'envoy_http_downstream_rq_total{envoy_http_conn_manager_prefix="edge"}': [
        '0+9000x30',
        '0+9000x30',
      ],
    },
    labels: GATEWAY,
  },
  GatewayFiltersUndecided: {
    series: { 'envoy_http_ext_authz_error{namespace="gateway"}': [RISING, FLAT] },
    labels: OF_NAMESPACE,
  },
  GatewayLimitsUndecided: {
    series: { 'envoy_cluster_ratelimit_error{namespace="gateway"}': [RISING, FLAT] },
    labels: OF_NAMESPACE,
  },
  GatewayNoHealthyInstance: {
    series: {
      [`envoy_cluster_membership_healthy{${CLUSTER}}`]: [ZERO, ONE],
      [`envoy_cluster_membership_total{${CLUSTER}}`]: ['2x30', '2x30'],
    },
    labels: OF_CLUSTER,
  },
  GatewayUnhealthyInstances: {
    series: {
      [`envoy_cluster_membership_healthy{${CLUSTER}}`]: [ONE, '2x30'],
      [`envoy_cluster_membership_total{${CLUSTER}}`]: ['2x30', '2x30'],
    },
    labels: OF_CLUSTER,
  },
  GatewayGrpcErrors: {
    series: {
      [`envoy_cluster_grpc_13{${CLUSTER}}`]: ['0+4x30', '0+2x30'],
      [`envoy_cluster_grpc_5{${CLUSTER}}`]: ['0+50x30', '0+50x30'],
      [`envoy_cluster_grpc_total{${CLUSTER}}`]: ['0+60x30', '0+60x30'],
    },
    labels: OF_CLUSTER,
  },
  GatewayConnectionsFail: {
    series: { [`envoy_cluster_upstream_cx_connect_fail{${CLUSTER}}`]: [RISING, FLAT] },
    labels: OF_CLUSTER,
  },
  GatewayProxyDisconnected: {
    series: { [`envoy_control_plane_connected_state{${PROXY}}`]: [ZERO, ONE] },
    labels: { namespace: 'gateway', instance: 'edge-1:9902' },
  },
  GatewayProxyNearlyFull: {
    series: {
      [`envoy_overload_envoy_resource_monitors_fixed_heap_pressure{${PROXY}}`]: ['86x30', '85x30'],
    },
    labels: { namespace: 'gateway', instance: 'edge-1:9902' },
  },
  GatewayConfigurationRejected: {
    series: {
      'gateway_xds_answers_total{namespace="gateway",type="Listener",answer="nack"}': [
        '0x20 1x10',
        ONE,
      ],
    },
    labels: { namespace: 'gateway', type: 'Listener' },
  },
  GatewayNotReady: {
    series: { 'gateway_ready{namespace="gateway"}': [ZERO, ONE] },
    labels: OF_NAMESPACE,
  },
  GatewayProblems: {
    series: { 'gateway_problems{namespace="gateway",severity="error"}': [ONE, ZERO] },
    labels: OF_NAMESPACE,
  },
  GatewaySecretsBroken: {
    series: { 'sds_secrets_broken{namespace="gateway"}': [ONE, ZERO] },
    labels: OF_NAMESPACE,
  },
  GatewayIdentityEnds: {
    series: {
      'sds_certificate_seconds_left{namespace="gateway",kind="identity",name="edge"}': [
        '3599x30',
        '3600x30',
      ],
    },
    labels: { namespace: 'gateway', kind: 'identity', name: 'edge' },
  },
  GatewayCertificateEnds: {
    series: {
      'sds_certificate_seconds_left{namespace="gateway",kind="served",name="shop/tls"}': [
        `${7 * DAY_S - 1}x30`,
        `${7 * DAY_S}x30`,
      ],
    },
    labels: { namespace: 'gateway', kind: 'served', name: 'shop/tls' },
  },
  GatewayCounterStoreFails: {
    series: {
      'gateway_ratelimit_store_seconds_count{namespace="gateway",ok="false"}': [RISING, FLAT],
    },
    labels: OF_NAMESPACE,
  },
  GatewayTargetDown: {
    series: { 'up{job="shop/gateway-services",instance="sds:8082"}': [ZERO, ONE] },
    labels: { job: 'shop/gateway-services', instance: 'sds:8082' },
  },
};

/** A certificate that we have issued ends like an identity, by its name. */
const ISSUED: Case = {
  series: {
    'sds_certificate_seconds_left{namespace="gateway",kind="served",name="gateway/issued/a"}': [
      '3599x30',
      '3600x30',
    ],
  },
  labels: { namespace: 'gateway', kind: 'served', name: 'gateway/issued/a' },
};

/** A control plane without pods. */
const GONE: Case = {
  series: { 'gateway_ready{namespace="gateway"}': ['1x10', '1x10 _x5 1x15'] },
  labels: OF_NAMESPACE,
};

/** Another release, with more requests, may have its metrics in the same Prometheus. */
const SMALL: Case = {
  series: Object.fromEntries(
    [
      ['small', '4', '60'],
      ['large', '0', '9000'],
    ].flatMap(([namespace, failing, all]) => {
      const edge = `namespace="${namespace}",envoy_http_conn_manager_prefix="edge"`;
      return [
        [
          `envoy_http_downstream_rq_xx{${edge},envoy_response_code_class="5"}`,
          [`0+${failing}x30`, ZERO],
        ],
        [`envoy_http_downstream_rq_total{${edge}}`, [`0+${all}x30`, `0+${all}x30`]],
      ];
    }),
  ),
  labels: { namespace: 'small', envoy_http_conn_manager_prefix: 'edge' },
};

/** A control plane that hangs looks connected. One that has restarted fails once. */
const HUNG: Case = {
  series: {
    [`envoy_control_plane_connected_state{${PROXY}}`]: [ONE, ONE],
    [`envoy_cluster_manager_cds_update_failure{${PROXY}}`]: ['_x5 1+2x25', '0x20 1x10'],
  },
  labels: { namespace: 'gateway', instance: 'edge-1:9902' },
};

/** Text of the rule for these labels, as Prometheus fills it in. */
function filled(text: string, labels: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name] ?? '');
}

function ruleTests(alert: string, { series, labels = {} }: Case): readonly object[] {
  const rule = rules.get(alert);
  assert.ok(rule, `there is no alert ${alert}`);
  const given = (index: 0 | 1) =>
    Object.entries(series).map(([name, values]) => ({ series: name, values: values[index] }));
  const annotations = Object.fromEntries(
    Object.entries(rule.annotations).map(([name, text]) => [name, filled(text, labels)]),
  );
  const fires = { exp_labels: { ...rule.labels, ...labels }, exp_annotations: annotations };
  const asked = { eval_time: '25m', alertname: alert };
  const common = { interval: '1m' };
  return [
    {
      ...common,
      name: `${alert} in trouble`,
      input_series: given(0),
      alert_rule_test: [{ ...asked, exp_alerts: [fires] }],
    },
    {
      ...common,
      name: `${alert} without trouble`,
      input_series: given(1),
      alert_rule_test: [{ ...asked, exp_alerts: [] }],
    },
  ];
}

describe('the alerts, as promtool runs them', { skip: promtool.skip }, () => {
  test('each is on in its trouble, with its words, and off without it', () => {
    assert.deepEqual(Object.keys(CASES).toSorted(), [...rules.keys()].toSorted());
    const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
    writeFileSync(join(folder, 'rules.yaml'), stringify(spec));
    const all = [
      ...Object.entries(CASES),
      ['GatewayIdentityEnds', ISSUED] as const,
      ['GatewayNotReady', GONE] as const,
      ['GatewayProxyDisconnected', HUNG] as const,
      ['GatewayServerErrors', SMALL] as const,
    ];
    writeFileSync(
      join(folder, 'tests.yaml'),
      stringify({
        rule_files: ['rules.yaml'],
        evaluation_interval: '1m',
        tests: all.flatMap(([alert, each]) => ruleTests(alert, each)),
      }),
    );
    const { status, stdout, stderr } = spawnSync(promtool.path, ['test', 'rules', 'tests.yaml'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
  });
});
