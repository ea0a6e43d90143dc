import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { watchUpstreams } from './watch-upstreams.ts';

const ADDRESS = { host: '127.0.0.1', port: 1 };
const OPTIONS = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS };

test('looks at what was compiled last, tells each change once, and stops', () => {
  const timers = new HandTimers();
  const missing = new Map([['shpo', 'no "shpo", did you mean `shop`?']]);
  const told: string[] = [];
  const inForce = (service: string) =>
    resourceSetOf(
      `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m}\nspec: {prefix: /, service: ${service}, resolver: sds}\n`,
    ).resources;
  let resources = inForce('shpo');
  let now = 0;
  const watch = watchUpstreams({
    figures: { requests: () => [], sources: () => [], upstreams: () => [] },
    missing: () => missing,
    resources: () => new Map(resources.mappings.map(each => [each.id, each])),
    connected: () => new Set(['edge']),
    replicated: false,
    changed: () =>
      told.push(
        watch
          .problems()
          .map(({ message }) => message)
          .join(),
      ),
    now: () => now,
    after: timers.after,
  });
  const write = (service: string) => {
    resources = inForce(service);
    watch.compiled('edge', compile(resources, 'edge', OPTIONS));
  };
  const pass = (looks: number) => {
    for (let at = 0; at < looks; at += 1) {
      now += 2_000;
      timers.runFirst();
    }
  };
  write('shpo');
  pass(5);
  assert.deepEqual(told, [
    'no "shpo", did you mean `shop`? Correct the name, or register the service. Until then requests get 503',
  ]);
  write('shop');
  pass(2);
  assert.deepEqual([told.length, told.at(-1)], [2, '']);
  watch.close();
  assert.equal(timers.pending, 0);
});

test('after the clock was set back by an hour it tells what is so then', () => {
  const timers = new HandTimers();
  const missing = new Map([['shop', 'no "shop"']]);
  const { resources } = resourceSetOf(
    'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m}\nspec: {prefix: /, service: shop, resolver: sds}\n',
  );
  let now = 7_200_000;
  const watch = watchUpstreams({
    figures: { requests: () => [], sources: () => [], upstreams: () => [] },
    missing: () => missing,
    resources: () => new Map(resources.mappings.map(each => [each.id, each])),
    connected: () => new Set(['edge']),
    replicated: false,
    changed: () => {},
    now: () => now,
    after: timers.after,
  });
  const sinceAfterLooks = () => {
    for (let at = 0; at < 5; at += 1) {
      now += 2_000;
      timers.runFirst();
    }
    return watch.problems().map(({ since }) => Date.parse(since ?? '') < now);
  };
  watch.compiled('edge', compile(resources, 'edge', OPTIONS));
  assert.deepEqual(sinceAfterLooks(), [true]);
  now -= 3_600_000;
  assert.deepEqual(sinceAfterLooks(), [true]);
  missing.clear();
  assert.deepEqual(sinceAfterLooks(), []);
  watch.close();
});
