import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText, problemLines } from '#resources/testing/problem-lines.ts';

/** Files as users of Ambassador have them. */
const FILES = `---
apiVersion: getambassador.io/v2
kind: Module
metadata:
  name: ambassador
  namespace: ambassador
spec:
  config:
    default_labels:
      ambassador:
        defaults:
        - remote_address
---
apiVersion: getambassador.io/v2
kind: Mapping
metadata:
  name: catalog
spec:
  ambassador_id: default
  prefix: /catalog/
  service: catalog:8080
  labels:
    ambassador:
    - catalog_group:
      - catalog
      - user:
          header: "X-User"
          omit_if_not_present: true
    - method_group:
      - method:
          header: ":method"
---
apiVersion: getambassador.io/v2
kind: RateLimitService
metadata:
  name: ratelimit
spec:
  service: ratelimit.infra:8081
  domain: ambassador
---
apiVersion: getambassador.io/v2
kind: RateLimit
metadata:
  name: catalog
spec:
  ambassador_id:
  - default
  domain: ambassador
  limits:
  - name: per-user
    action: enforce
    pattern:
    - remote_address: "*"
    - "generic_key": "catalog"
    - "user": ""
    rate: 5
    unit: Minute
    injectRequestHeaders:
    - name: "X-Limited"
      value: '{{ if eq .RateLimitResponse.OverallCode 2 }}yes{{ else }}{{ doNotSet }}{{ end }}'
    injectResponseHeaders:
    - name: X-Retry
      value: "{{ .RetryAfter }}"
    errorResponse:
      headers:
      - name: Content-Type
        value: application/json
      bodyTemplate: |-
        { "code": {{ .status_code }}, "id": "{{ .request_id }}" }
  - pattern: [{ remote_address: "*" }, { method: GET, method: HEAD }]
    action: LOGONLY
    rate: 1000
    unit: HOUR
`;

test("files of Ambassador's users are read unchanged", () => {
  const parsed = parseText(FILES);
  assert.deepEqual(problemLines(parsed), [
    '5 warning metadata.name: the name "ambassador" is read as "gateway". Please write it so',
  ]);
  assert.deepEqual(
    parsed.resources.map(({ id }) => id),
    [
      'Module/ambassador/ambassador',
      'Mapping/default/catalog',
      'RateLimitService/default/ratelimit',
      'RateLimit/default/catalog',
    ],
  );
  const limits = parsed.resources.flatMap(({ kind, spec }) =>
    kind === 'RateLimit' ? spec.limits : [],
  );
  assert.deepEqual(
    limits.map(({ action, unit }) => [action, unit]),
    [
      ['Enforce', 'minute'],
      ['LogOnly', 'hour'],
    ],
  );
  assert.deepEqual(limits[1]?.pattern[1], [
    { key: 'method', value: 'GET' },
    { key: 'method', value: 'HEAD' },
  ]);
});

test('a mistake in a template has the line of its field', () => {
  const [, problem = ''] = problemLines(
    parseText(FILES.replace('"{{ .RetryAfter }}"', '"{{ .RetryAfter "')),
  );
  assert.equal(
    problem,
    '63 error spec.limits[0].injectResponseHeaders[0].value: Cannot parse template: line 1: unclosed action',
  );
});
