import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { covers } from './region.ts';
import { fuzz, type Side } from './testing/fuzz.ts';
import {
  mayMeet,
  type RandomRequest,
  randomSite,
  randomWorld,
  SITE_PORT,
} from './testing/random-world.ts';

/** Returns the ids of the Mappings that serve a request. The first one names its route. */
function servingOf({ explain }: Side, request: RandomRequest): readonly string[] {
  const { targets = [] } = explain(request).route ?? {};
  return targets.map(({ of }) => of.resource.replace(' ', '/'));
}

test('no request of a condition goes to another Mapping without a line that tells it', () => {
  const moved = fuzz(
    randomWorld,
    ({ request, was, is, difference, told }) => {
      const [from, to] = [servingOf(was, request), servingOf(is, request)];
      const [[old], [next]] = [from, to];
      if (old === undefined || next === undefined) return false;
      if (from.some(id => to.includes(id))) return false;
      const lines = difference.routes.flatMap(({ requests = [] }) => requests);
      assert.ok(
        lines.some(
          line =>
            line.before?.route === old &&
            line.after?.route === next &&
            covers(line, request) &&
            mayMeet(line.conditions ?? [], request),
        ),
        told([old, next, lines]),
      );
      return true;
    },
    docs => docs.filter(({ id, text }) => id.startsWith('Mapping/') && /x-a|v:|method/.test(text)),
  );
  assert.ok(moved > cases({ all: 100, quick: 50 }), `only ${moved} requests moved`);
});

/** Returns the route of a request and its backends, or nothing. */
function ofGateway({ explain }: Side, request: RandomRequest): string | undefined {
  const { route } = explain(request, SITE_PORT);
  return route && `${route.resource} ${route.targets.map(({ cluster }) => cluster).join()}`;
}

test('no request of a Gateway goes elsewhere, or nowhere, without a line that tells it', () => {
  const moved = fuzz(randomSite, ({ request, was, is, difference, told }) => {
    const [from, to] = [ofGateway(was, request), ofGateway(is, request)];
    if (from === undefined || from === to) return false;
    const removed = difference.routes.filter(({ change }) => change === 'removed');
    const isGone = removed.some(({ id }) => from.startsWith(`${id.replace('/', ' ')} `));
    if (to === undefined && isGone) return false;
    const lines = difference.routes.flatMap(({ requests = [] }) => requests);
    assert.ok(
      lines.some(
        ({ after, before, conditions = [], ...region }) =>
          from.startsWith(`${before?.route.replace('/', ' ')} `) &&
          (after === undefined) === (to === undefined) &&
          covers(region, request) &&
          mayMeet(conditions, request),
      ),
      told([from, to, lines]),
    );
    return true;
  });
  assert.ok(moved > cases({ all: 100, quick: 50 }), `only ${moved} requests moved`);
});
