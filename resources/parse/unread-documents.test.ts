import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';
import { collect } from './collect.ts';

const METADATA = 'metadata: {name: x}\n';
const ANNOTATED =
  'metadata: {name: x, annotations: {getambassador.io/config: "apiVersion: ambassador/v1"}}\n';

const INGRESS = 'warning apiVersion: an Ingress is not read: write a Mapping';
const GATEWAY_API =
  'warning apiVersion: ConformanceReport of Gateway API is not read: it has no effect here';
const ANNOTATION =
  'warning metadata.annotations["getambassador.io/config"]: the annotation `getambassador.io/config` is not read: write what it holds as documents of their own';
const old = (version: string) =>
  `error apiVersion: \`ambassador/${version}\` is not read: write \`gateway.internal/v2\`, and \`metadata\` and \`spec\` as docs/reference/kinds.md shows`;

const TOLD: readonly (readonly [document: string, problem: string])[] = [
  ['apiVersion: ambassador/v0\nkind: Mapping\nname: x\nprefix: /\nservice: b\n', old('v0')],
  ['apiVersion: ambassador/v1\nkind: TLSContext\nname: x\n', old('v1')],
  ['apiVersion: ambassador/v2\nkind: Module\nname: x\n', old('v2')],
  [`apiVersion: networking.k8s.io/v1\nkind: Ingress\n${METADATA}`, INGRESS],
  [`apiVersion: extensions/v1beta1\nkind: Ingress\n${METADATA}`, INGRESS],
  [`apiVersion: gateway.networking.k8s.io/v1\nkind: ConformanceReport\n${METADATA}`, GATEWAY_API],
  [
    `apiVersion: gateway.internl/v2\nkind: Mappings\n${METADATA}`,
    'error apiVersion: the group "gateway.internl" is not read, did you mean `gateway.internal`?',
  ],
  [
    `apiVersion: getambasador.io/v2\nkind: Wombat\n${METADATA}`,
    'error apiVersion: the group "getambasador.io" is not read, did you mean `getambassador.io`?',
  ],
  [
    `apiVersion: gateway.example.com/v2\nkind: FilterPolicy\n${METADATA}`,
    'warning apiVersion: the group "gateway.example.com" is not read: this FilterPolicy has no effect here. Write `gateway.internal`, or list that group in API_GROUPS',
  ],
  [`apiVersion: v1\nkind: Service\n${ANNOTATED}`, ANNOTATION],
  [
    `apiVersion: getambassador.io/v2\nkind: FilterPolicy\n${METADATA}spec: {ambassador_id: [Default]}\n`,
    'warning spec.ambassador_id: this is for the gateway "Default", and ignored by "default". Letter case counts',
  ],
];

for (const [document, problem] of TOLD) {
  test(`${JSON.stringify(document)} is told of once a file`, () => {
    const several = [document, document, document].join('---\n');
    const lines = problemLines(collect([parseText(several)])).map(line =>
      line.replace(/^\d+ /, ''),
    );
    assert.deepEqual(lines, [problem]);
  });
}

test('an AuthService of an annotation is one that is not served, so that it closes', () => {
  const { problems, rejected } = parseText(
    'apiVersion: ambassador/v1\nkind: AuthService\nname: x\nauth_service: a\n',
  );
  assert.equal(problems[0]?.message, old('v1').replace('error apiVersion: ', ''));
  const [{ unserved = [] } = {}] = rejected;
  assert.deepEqual(
    unserved.map(({ name }) => name),
    ['AuthService'],
  );
});

test('a document of ours with the annotation is served, and told of', () => {
  const parsed = parseText(
    `apiVersion: gateway.internal/v2\nkind: Mapping\n${ANNOTATED}spec: {prefix: /, service: b}\n`,
  );
  assert.deepEqual(problemLines(parsed), [`3 ${ANNOTATION}`]);
  assert.equal(parsed.resources.length, 1);
});

test('what a file says that is not read takes nothing from what is', () => {
  const { anonymous, readable } = parseText(TOLD.map(([document]) => document).join('---\n'));
  assert.deepEqual({ anonymous, readable }, { anonymous: false, readable: true });
});

for (const [apiVersion, kind] of [
  ['apps/v1', 'Deployment'],
  ['v1', 'Service'],
  ['v1', 'ConfigMap'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
  ['networking.k8s.io/v1', 'IngressClass'],
  ['networking.istio.io/v1', 'ProxyConfig'],
  ['kustomize.config.k8s.io/v1beta1', 'Kustomization'],
]) {
  test(`a ${kind} of ${apiVersion} is about something else`, () => {
    const parsed = parseText(`apiVersion: ${apiVersion}\nkind: ${kind}\n${METADATA}`);
    assert.deepEqual(problemLines(collect([parsed])), []);
  });
}
