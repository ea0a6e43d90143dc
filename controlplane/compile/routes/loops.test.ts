import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../compile.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';

const LOCAL = { host: '127.0.0.1', port: 1 };

function warningsOf(spec: string, edge: string): readonly string[] {
  const { resources } = resourceSetOf(
    `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m}\nspec: {${spec}}\n`,
  );
  const options = { sds: LOCAL, rateLimit: LOCAL, extAuthz: LOCAL };
  return compile(resources, 'edge', { ...options, edge: { host: edge, port: 8080 } })
    .problems.filter(({ message }) => /itself listens|to itself/.test(message))
    .map(({ severity, field }) => `${severity} ${field}`);
}

for (const [spec, edge, isLoop] of [
  ['prefix: /, service: "127.0.0.1:8080"', '127.0.0.1', true],
  ['prefix: /, service: "localhost:8080"', '0.0.0.0', true],
  ['prefix: /, service: "10.0.0.1:8080"', '10.0.0.1', true],
  ['prefix: /a/, service: "127.0.0.1:8080", rewrite: ""', '127.0.0.1', true],
  ['prefix: /a/, service: "127.0.0.1:8080", rewrite: /a/b', '127.0.0.1', true],
  ['prefix: /, host: a.test, service: "127.0.0.1:8080"', '127.0.0.1', true],
  ['prefix: /, service: "127.0.0.1:8080", host_rewrite: b', '127.0.0.1', true],
  // Another Mapping may get it there.
  ['prefix: /a/, service: "127.0.0.1:8080"', '127.0.0.1', false],
  ['prefix: /a, service: "127.0.0.1:8080", rewrite: /ab', '127.0.0.1', false],
  ['prefix: /, host: a.test, service: "127.0.0.1:8080", host_rewrite: b', '127.0.0.1', false],
  ['prefix: /, service: "127.0.0.1:8081"', '127.0.0.1', false],
  ['prefix: /, service: "127.0.0.1:8080"', '10.0.0.1', false],
  ['prefix: /, service: "127.0.0.1:8080", host_redirect: true', '127.0.0.1', false],
] as const)
  test(`{${spec}} ${isLoop ? 'leads back to itself' : 'leads on'}, where the edge is at ${edge}`, () => {
    assert.deepEqual(warningsOf(spec, edge), isLoop ? ['warning spec.service'] : []);
  });

for (const [spec, isLoop] of [
  ['prefix: /, host: a.test, service: a.test', true],
  ['prefix: /, host: a.test, service: "a.test:8080"', true],
  ['prefix: /, host: a.test, service: "a.test:9000"', false],
  ['prefix: /, host: a.test, service: www.a.test', false],
  ['prefix: /, service: a.test', false],
  ['prefix: /old/, host: a.test, service: a.test, prefix_redirect: /new/', false],
  ['prefix: /, host: a.test, service: a.test, headers: {X-Old: true}', false],
  // Another Mapping may get what comes by https.
  ['prefix: /, host: a.test, service: "https://a.test"', false],
] as const)
  test(`{${spec}} redirects ${isLoop ? 'to itself' : 'to something else'}`, () => {
    const found = warningsOf(`${spec}, host_redirect: true`, '127.0.0.1');
    assert.deepEqual(found, isLoop ? ['warning spec.service'] : []);
  });
