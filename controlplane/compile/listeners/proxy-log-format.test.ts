import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEnvoyLogFormat } from './proxy-log-format.ts';

const NAMESPACE = 'proxy.filters.http.ratelimit';
const ENVOY = 'envoy.filters.http.ratelimit';

const TRANSLATED: readonly string[] = [
  '%DYNAMIC_METADATA(NS:gw.ratelimit.name)%',
  '%DYNAMIC_METADATA(NS)%',
  '%DYNAMIC_METADATA(NS:gw.ratelimit.name):30%',
  '%DYNAMIC_METADATA(NS:NS)%'.replace(/NS\)/, `${NAMESPACE})`),
  'a %DYNAMIC_METADATA(NS:a)% %DYNAMIC_METADATA(NS:b)%',
  '%REQ(X)%%DYNAMIC_METADATA(NS:a)%',
  '%%%DYNAMIC_METADATA(NS:a)%%%',
  '%METADATA(DYNAMIC:NS:gw.ratelimit.name):30% %METADATA(DYNAMIC:NS)%',
  '$& $1 %DYNAMIC_METADATA(NS:$&)%',
  '%COALESCE({"operators":["PROTOCOL",{"command":"DYNAMIC_METADATA","param":"NS:gw.ratelimit.name"},{"command":"REQ","param":"X"}]})%',
  '%COALESCE({"operators":[{"command":"COALESCE","param":"{\\"operators\\":[{\\"command\\":\\"METADATA\\",\\"param\\":\\"DYNAMIC:NS:a\\",\\"max_length\\":3}]}"}]}):9%',
];

for (const text of TRANSLATED) {
  test(`${text} refers to where Envoy writes`, () => {
    assert.equal(toEnvoyLogFormat(text.replaceAll('NS', NAMESPACE)), text.replaceAll('NS', ENVOY));
  });
}

for (const [params, ours] of [
  ['(envoy.filters.http.ratelimit:aes.ratelimit.name):9', '(NS:gw.ratelimit.name):9'],
  ['(proxy.filters.http.ratelimit:aes.ratelimit.retry_after)', '(NS:gw.ratelimit.retry_after)'],
  ['(envoy.filters.http.ratelimit:aes.other)', '(NS:aes.other)'],
  ['(other:aes.ratelimit.name)', '(other:aes.ratelimit.name)'],
] as const)
  test(`of Ambassador's keys, ${params} refers to ours`, () => {
    const envoys = `%DYNAMIC_METADATA${ours.replace('NS', ENVOY)}%`;
    assert.equal(toEnvoyLogFormat(`%DYNAMIC_METADATA${params}%`), envoys);
    const dynamic = (text: string): string =>
      text.replace('%DYNAMIC_METADATA(', '%METADATA(DYNAMIC:');
    assert.equal(toEnvoyLogFormat(dynamic(`%DYNAMIC_METADATA${params}%`)), dynamic(envoys));
  });

const KEPT: readonly string[] = [
  NAMESPACE,
  `%%DYNAMIC_METADATA(${NAMESPACE})%%`,
  `%DYNAMIC_METADATA(${NAMESPACE}x:a)%`,
  `%DYNAMIC_METADATA(${NAMESPACE}.x)%`,
  `%DYNAMIC_METADATA(x${NAMESPACE}:a)%`,
  `%DYNAMIC_METADATA(other:${NAMESPACE})%`,
  `%METADATA(ROUTE:${NAMESPACE}:a)% %METADATA(DYNAMIC:other:${NAMESPACE})%`,
  `%REQ(${NAMESPACE})%`,
  `%COALESCE({ "operators": ["PROTOCOL", { "command": "REQ", "param": "${NAMESPACE}" }] })%`,
  `(${NAMESPACE}) %DYNAMIC_METADATA(other)%`,
  '',
];

for (const [written, envoys] of [
  ['%UPSTREAM_CLUSTER%', '%UPSTREAM_CLUSTER_RAW%'],
  [
    '%%%UPSTREAM_CLUSTER:9% %UPSTREAM_CLUSTER_RAW%',
    '%%%UPSTREAM_CLUSTER_RAW:9% %UPSTREAM_CLUSTER_RAW%',
  ],
  ['%%UPSTREAM_CLUSTER%% %REQ(UPSTREAM_CLUSTER)%', '%%UPSTREAM_CLUSTER%% %REQ(UPSTREAM_CLUSTER)%'],
  [
    '%COALESCE({"operators":["UPSTREAM_CLUSTER",{"command":"UPSTREAM_CLUSTER"}]})%',
    '%COALESCE({"operators":["UPSTREAM_CLUSTER_RAW",{"command":"UPSTREAM_CLUSTER_RAW"}]})%',
  ],
] as const)
  test(`${written} tells the cluster's own name`, () => {
    assert.equal(toEnvoyLogFormat(written), envoys);
  });

for (const text of KEPT) {
  test(`"${text}" stays as it is`, () => {
    assert.equal(toEnvoyLogFormat(text), text);
  });
}
