import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { type FailingServer, startFailingServer } from './failing-server.ts';

const SHORT_MS = 300;
/** More than are needed to make theirs the policy of the virtual host. */
const OTHERS = 100;

let service: FailingServer;
let envoy: CompiledEnvoy;

const mapping = (name: string, fields: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /${name}/, ${fields}}\n`;

before(async () => {
  service = await startFailingServer();
  const to = `service: '${service.address}'`;
  const others = Array.from({ length: OTHERS }, (_, index) =>
    mapping(`short-${index}`, `${to}, timeout_ms: ${SHORT_MS}`),
  );
  envoy = await startCompiled(
    [
      ...others,
      mapping('usual', to),
      mapping('all', `${to}, retry_policy: {retry_on: 5xx, num_retries: 3}`),
      mapping('never', `${to}, timeout_ms: 0, retry_policy: {retry_on: 5xx, num_retries: 0}`),
    ].join(''),
  );
});

after(async () => {
  await envoy.stop();
  await service.close();
});

beforeEach(() => {
  service.asked();
});

for (const [path, status, tries] of [
  ['/short-0/silent', 504, 1],
  ['/short-99/silent', 504, 1],
  ['/short-50/503', 503, 1],
  ['/short-50/reset', 503, 2],
  ['/usual/503', 503, 1],
  ['/usual/reset', 503, 2],
  ['/all/503', 503, 4],
  ['/never/503', 503, 1],
  ['/never/reset', 503, 1],
] as const) {
  test(`${path} is answered ${status} after ${tries} tries, whatever most routes have`, async () => {
    assert.equal((await envoy.ask(path)).status, status);
    assert.equal(service.asked().length, tries);
  });
}

test('a route waits for an answer for its own time', async () => {
  const begun = performance.now();
  const answer = await envoy.ask('/usual/silent');
  assert.equal(answer.status, 504);
  assert.ok(performance.now() - begun > 5 * SHORT_MS);
});
