import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { TOKENS } from '#controlplane/compile/ext-authz/token-filters.ts';
import type { FilterKeySet } from '#controlplane/knowledge/knowledge.ts';
import { serve } from '#grpc/serve.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import { DiscoveryChannel } from '#xds/testing/discovery-client.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { MOST_AGE_MS } from './keys-in-force.ts';
import { openTokenKeys } from './token-keys.ts';

const SET = {
  ...{ filter: 'default/tokens', jwksURI: 'https://idp.test/keys' },
  keys: [JSON.stringify({ kty: 'RSA', kid: 'a', alg: 'RS256' })],
};
const PROVIDER = {
  ...{ name: 'p', filter: SET.filter, jwksURI: SET.jwksURI, terms: {} },
  algorithms: ['RS256'],
};

/** Opens it with an ext-authz that answers when it is told to, and a clock. */
function opened(sets: readonly FilterKeySet[]) {
  const clock = { ms: 0 };
  const timers = new HandTimers();
  const answers: (() => void)[] = [];
  const keys = openTokenKeys({
    log: pino({ level: 'silent' }),
    keySets: () => new Promise(resolve => answers.push(() => resolve(sets))),
    refuse: () => undefined,
    now: () => clock.ms,
    after: timers.after,
  });
  const answer = async () => {
    for (const each of answers.splice(0)) each();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { answer, answers, clock, keys, timers };
}

test('a rule that goes and comes back while ext-authz is asked for keys has it asked no more often', async () => {
  const { answer, answers, keys, timers } = opened([]);
  for (const providers of [[PROVIDER], [], [PROVIDER]]) keys.compiled('edge', providers);
  assert.equal(answers.length, 2);
  await answer();
  assert.equal(timers.pending, 1);
  keys.close();
  assert.equal(timers.pending, 0);
});

for (const [what, lateMs] of [
  ['that come in time are served', 0],
  ['are as old as the question for them, however late the answer comes', MOST_AGE_MS + 1],
] as const)
  test(`keys ${what}`, async t => {
    const { answer, clock, keys } = opened([SET]);
    keys.compiled('edge', [PROVIDER]);
    clock.ms += lateMs;
    await answer();
    const served = await serve({
      ...{ host: '127.0.0.1', port: 0, services: keys.services },
      ...DISCOVERY,
    });
    const channel = new DiscoveryChannel(served.port);
    t.after(async () => {
      channel.close();
      keys.close();
      await served.stop(100);
    });
    const service = 'envoy.service.extension.v3.ExtensionConfigDiscoveryService';
    const proxy = channel.open('DeltaExtensionConfigs', service);
    proxy.begin({ resource_names_subscribe: [TOKENS] });
    const { removed_resources, resources } = await proxy.next();
    const told = [resources.map(({ name }) => name), removed_resources];
    assert.deepEqual(told, lateMs === 0 ? [[TOKENS], []] : [[], [TOKENS]]);
  });
