import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { fileLastGoodStore } from '#controlplane/rollout/last-good-store.ts';
import { createMetrics } from '#controlplane/status/metrics.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { collect } from '#resources/parse/collect.ts';
import { Parser, parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { documentOf } from '#resources/testing/problem-lines.ts';
import { readConfig } from './config.ts';
import { controlPlane } from './control-plane.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Starts a control plane whose clock stands at `times[0]`, and moves on with each minute that
 * passes in it.
 */
async function startedAt(t: TestContext, times: number[]) {
  const state = mkdtempSync(join(tmpdir(), 'gateway-state-'));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const minutes = new Set<() => void>();
  const plane = await controlPlane({
    config: readConfig({ STATE: state }),
    parser: new Parser(DEFAULT_PARSE_OPTIONS),
    store: fileLastGoodStore(join(state, 'last-good.json')),
    metrics: createMetrics(() => plane.status()),
    log: pino({ level: 'silent' }),
    now: () => times[0] ?? 0,
    after(ms, run) {
      if (ms === MINUTE_MS) minutes.add(run);
      return () => void minutes.delete(run);
    },
  });
  t.after(() => plane.stop());
  const passMinute = () => {
    times.shift();
    for (const run of [...minutes]) {
      minutes.delete(run);
      run();
    }
  };
  return { plane, passMinute, minutes };
}

test('a change that proxies get by time alone is told of at once', async t => {
  const state = mkdtempSync(join(tmpdir(), 'gateway-state-'));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const lines: string[] = [];
  const waits = new Set<() => void>();
  const plane = await controlPlane({
    config: readConfig({ STATE: state, RESOURCES_KUBERNETES: 'default' }),
    parser: new Parser(DEFAULT_PARSE_OPTIONS),
    store: fileLastGoodStore(join(state, 'last-good.json')),
    metrics: createMetrics(() => plane.status()),
    log: pino({ level: 'error' }, { write: line => void lines.push(line) }),
    now: () => 0,
    after(_ms, run) {
      waits.add(run);
      return () => void waits.delete(run);
    },
  });
  t.after(() => plane.stop());
  const policy = documentOf('FilterPolicy', {
    rules: [{ path: '/a', filters: [{ name: 'gone' }] }],
  });
  const written = collect([parseFile('in.yaml', policy, DEFAULT_PARSE_OPTIONS)]);
  plane.read({ written, problems: written.problems, objects: [], gatewayApi: [] });
  assert.doesNotMatch(lines.join(), /gone/, 'services of another control plane come first');
  for (const run of [...waits]) run();
  assert.match(lines.join(), /there is no Filter default.gone/);
});

test('a certificate comes into force when its time has come, and is told of when it has passed, without an edit', async t => {
  const { certificate, key } = await (await testAuthority()).issue('shop.example.com');
  const stringData = JSON.stringify({ 'tls.crt': certificate, 'tls.key': key });
  const yaml = `apiVersion: v1\nkind: Secret\nmetadata: {name: shop}\nstringData: ${stringData}\n---
apiVersion: gateway.internal/v2\nkind: Host\nmetadata: {name: shop}\nspec: {hostname: shop.example.com, tlsSecret: shop}\n`;
  const written = collect([parseFile('in.yaml', yaml, DEFAULT_PARSE_OPTIONS)]);
  const now = Date.now();
  const { plane, passMinute, minutes } = await startedAt(t, [
    now - 3_650 * DAY_MS,
    now,
    now,
    now + 36_500 * DAY_MS,
  ]);
  const said = () => plane.status().problems.map(({ message }) => message);
  plane.read({ written, problems: written.problems, objects: [], gatewayApi: [] });
  assert.match(said()[0] ?? '', /^the certificate is not valid before /);
  passMinute();
  assert.deepEqual(said(), []);
  passMinute();
  passMinute();
  assert.match(said()[0] ?? '', /^the certificate expired at /);
  assert.deepEqual([said().length, minutes.size], [1, 1], 'it stays in force, and one clock runs');
});
