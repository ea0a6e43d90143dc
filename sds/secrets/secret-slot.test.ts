import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAcme, testAuthority } from '../testing/test-secrets.ts';
import { SecretSlot } from './secret-slot.ts';

test('a certificate that is not valid yet is sent when its time has come', async t => {
  const authority = await testAuthority(t);
  const pair = await authority.server(['a.test']);
  let now = 0;
  const rejected: string[] = [];
  const timers = new Set<() => void>();
  const slot = new SecretSlot(
    { name: 'a', groups: ['edge'], content: { kind: 'key pair', ...pair } },
    {
      authority,
      acme: testAcme(),
      certificateFolders: [],
      clock: {
        now: () => now,
        random: Math.random,
        after(_ms, run) {
          timers.add(run);
          return () => void timers.delete(run);
        },
      },
      versionKey: Buffer.alloc(32, 7),
      onChange: () => {},
      onRejected: ({ reason }) => void rejected.push(reason),
      onOver: () => {},
      connectedSince: () => undefined,
      onFindings: () => {},
    },
  );
  const pass = () => {
    const due = [...timers];
    timers.clear();
    for (const run of due) run();
  };
  const sent = () => slot.resource?.name;
  pass();
  assert.equal(sent(), undefined);
  now = Date.now();
  pass();
  assert.equal(sent(), 'a');
  assert.deepEqual(
    [rejected.length, timers.size, slot.problem],
    [1, 0, undefined],
    'told once, and done',
  );
});
