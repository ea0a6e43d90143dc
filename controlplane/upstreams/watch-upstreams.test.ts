import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import type {
  Figures,
  SampledRequest,
  UpstreamCounts,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { watchUpstreams } from './watch-upstreams.ts';

const ADDRESS = { host: '127.0.0.1', port: 1 };
const OPTIONS = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS };

const mapping = (service: string) =>
  resourceSetOf(
    `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m}\nspec: {prefix: /, service: ${service}, resolver: sds}\n`,
  ).resources;

/** Watches one Mapping by a clock that only `pass` and the test move. */
function watching(
  missing: ReadonlyMap<string, string>,
  changed = () => {},
  figures: Partial<Figures> = {},
) {
  const timers = new HandTimers();
  const clock = { now: 7_200_000 };
  let resources = mapping('none');
  const watch = watchUpstreams({
    figures: { requests: () => [], sources: () => [], upstreams: () => [], ...figures },
    missing: () => missing,
    resources: () => new Map(resources.mappings.map(each => [each.id, each])),
    connected: () => new Set(['edge']),
    replicated: false,
    changed,
    now: () => clock.now,
    after: timers.after,
  });
  const write = (service: string) => {
    resources = mapping(service);
    watch.compiled('edge', compile(resources, 'edge', OPTIONS));
  };
  const pass = (looks: number) => {
    for (let at = 0; at < looks; at += 1) {
      clock.now += 2_000;
      timers.runFirst();
    }
  };
  return { timers, clock, watch, write, pass };
}

test('looks at what was compiled last, tells each change once, and stops', () => {
  const missing = new Map([['shpo', 'no "shpo", did you mean `shop`?']]);
  const told: string[] = [];
  const { pass, timers, watch, write } = watching(missing, () =>
    told.push(
      watch
        .problems()
        .map(({ message }) => message)
        .join(),
    ),
  );
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
  const missing = new Map([['shop', 'no "shop"']]);
  const { clock, pass, watch, write } = watching(missing);
  const sinceAfterLooks = () => {
    pass(5);
    return watch.problems().map(({ since }) => Date.parse(since ?? '') < clock.now);
  };
  write('shop');
  assert.deepEqual(sinceAfterLooks(), [true]);
  clock.now -= 3_600_000;
  assert.deepEqual(sinceAfterLooks(), [true]);
  missing.clear();
  assert.deepEqual(sinceAfterLooks(), []);
  watch.close();
});

/** Returns the figures of a cluster whose requests to `route()` are all late. */
function lateFigures(route: () => string, late: Partial<UpstreamCounts>): Partial<Figures> {
  const none = { late: 0, timeouts: 0, connectFailures: 0, tlsFailures: 0, checkFailures: 0 };
  const counts = { ...none, ...late };
  const upstream = {
    ...{ group: 'edge', cluster: 'shop', proxies: 1, members: 1, healthy: 1 },
    ...{ lastMinute: counts, last15Minutes: counts },
  } as Partial<UpstreamFigures> as UpstreamFigures;
  const request = {
    ...{ group: 'edge', cluster: 'shop', flags: ['UT'], at: Number.POSITIVE_INFINITY, weight: 1 },
  } as Partial<SampledRequest> as SampledRequest;
  return {
    requests: () => Array.from({ length: 3 }, () => ({ ...request, route: route() })),
    upstreams: () => [upstream],
  };
}

test('a Mapping is not told for what another one, which is removed, was late with', () => {
  let route = 'Mapping/default/gone';
  const figures = lateFigures(() => route, { late: 3 });
  const { pass, watch, write } = watching(new Map(), () => {}, figures);
  write('shop');
  pass(5);
  assert.deepEqual(watch.problems(), []);
  route = 'Mapping/default/m';
  pass(5);
  assert.equal(watch.problems()[0]?.name, 'm');
  watch.close();
});

test('requests whose whole time ends are told as late, as those are whose tries have a time', () => {
  const figures = lateFigures(() => 'Mapping/default/m', { timeouts: 3 });
  const { pass, watch, write } = watching(new Map(), () => {}, figures);
  write('shop');
  pass(5);
  assert.match(watch.problems()[0]?.message ?? '', /^nearly all requests get no answer in time/);
  watch.close();
});
