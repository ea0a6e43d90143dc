import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { seededRandom } from '#protos/testing/random.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { covers } from './region.ts';
import { differing } from './testing/differing.ts';
import {
  changedWorld,
  explained,
  mayMeet,
  type RandomRequest,
  randomRequest,
  randomWorld,
  textOf,
} from './testing/random-world.ts';

const SEEDS = 60;
const REQUESTS = 32;

/** Returns the ids of the Mappings that serve a request. The first one names its route. */
function servingOf(resources: ResourceSet, request: RandomRequest): readonly string[] {
  const { targets = [] } = explained(resources, request).route ?? {};
  return targets.map(({ of }) => of.resource.replace(' ', '/'));
}

test('no request of a condition goes to another Mapping without a line that tells it', () => {
  let moved = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const docs = randomWorld(random);
    const mappings = docs.filter(
      ({ id, text }) => id.startsWith('Mapping/') && /x-a|v:|method/.test(text),
    );
    if (mappings.length === 0) continue;
    const [before, after] = [textOf(docs), textOf(changedWorld(docs, random, mappings))];
    const lines = differing(before, after).routes.flatMap(({ requests = [] }) => requests);
    const [was, is] = [resourceSetOf(before), resourceSetOf(after)];
    for (let count = 0; count < REQUESTS; count++) {
      const request = randomRequest(random);
      const [from, to] = [servingOf(was.resources, request), servingOf(is.resources, request)];
      const [[old], [next]] = [from, to];
      if (old === undefined || next === undefined) continue;
      if (from.some(id => to.includes(id))) continue;
      moved += 1;
      assert.ok(
        lines.some(
          line =>
            line.before?.route === old &&
            line.after?.route === next &&
            covers(line, request) &&
            mayMeet(line.conditions ?? [], request),
        ),
        `seed ${seed}: ${JSON.stringify(request)} from ${old} to ${next} ${JSON.stringify(lines)}\n${before}\n=== then\n${after}`,
      );
    }
  }
  assert.ok(moved > 100, `only ${moved} requests moved`);
});
