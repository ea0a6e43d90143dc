import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEMO, demoResources, movePorts } from './demo-resources.ts';

test('without an offset the demo is read where it is', () => {
  assert.equal(demoResources({ folder: '/tmp/unused', portOffset: 0, provider: true }), DEMO);
});

test('with an offset it is a copy without what an earlier demo left', t => {
  const state = mkdtempSync(join(tmpdir(), 'demo-'));
  t.after(() => rmSync(state, { recursive: true }));
  const folder = join(state, 'demo');
  demoResources({ folder, portOffset: 100, provider: true });
  writeFileSync(join(folder, 'stale.yaml'), '');
  assert.equal(demoResources({ folder, portOffset: 100, provider: true }), folder);
  assert.deepEqual(readdirSync(folder), readdirSync(DEMO));
  for (const file of readdirSync(DEMO)) {
    const text = readFileSync(join(DEMO, file), 'utf8');
    assert.equal(readFileSync(join(folder, file), 'utf8'), movePorts(text, 100));
  }
});

test('without a provider it is a copy without logins', t => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  t.after(() => rmSync(folder, { recursive: true }));
  demoResources({ folder, portOffset: 0, provider: false });
  assert.deepEqual(readdirSync(folder), ['https.yaml', 'rate-limits.yaml', 'user-service.yaml']);
  for (const file of readdirSync(folder))
    assert.doesNotMatch(readFileSync(join(folder, file), 'utf8'), /^kind: (Filter|Secret)/m);
});

for (const [text, moved] of [
  ['origin: http://127.0.0.1:8080', 'origin: http://127.0.0.1:8180'],
  ['origin: http://localhost:8080/', 'origin: http://localhost:8180/'],
  ['127.0.0.1:18004/jwks', '127.0.0.1:18104/jwks'],
  ['127.0.0.1:9000', '127.0.0.1:9000'],
  ['127.0.0.1:80801', '127.0.0.1:80801'],
  ['10.127.0.0.1:8080 xlocalhost:8080', '10.127.0.0.1:8080 xlocalhost:8080'],
  ['port: 8080', 'port: 8080'],
] as const) {
  test(`${text} becomes ${moved}`, () => {
    assert.equal(movePorts(text, 100), moved);
  });
}
