import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '#xds/testing/random.ts';
import type { Instance, Instances } from './instance.ts';
import { mergedSource } from './merged-source.ts';

const one = { address: '10.0.0.1', port: 80 };
const two = { address: '10.0.0.2', port: 80 };

function handSource() {
  const source = {
    say: (_instances: Instances) => {},
    ended: false,
    watch(onChange: (instances: Instances) => void) {
      source.say = onChange;
      return () => {
        source.ended = true;
      };
    },
  };
  return source;
}

test('nothing is known until every source has answered; then a service has the instances of all', () => {
  const first = handSource();
  const second = handSource();
  const heard: Instances[] = [];
  const end = mergedSource([first, second]).watch(instances => heard.push(instances));
  second.say(new Map([['s', [two]]]));
  assert.deepEqual(heard, []);
  first.say(new Map([['s', [one]]]));
  second.say(new Map([['t', [two]]]));
  assert.deepEqual(
    heard.map(instances => new Map(instances)),
    [
      new Map([['s', [one, two]]]),
      new Map([
        ['s', [one]],
        ['t', [two]],
      ]),
    ],
  );
  end();
  assert.deepEqual([first.ended, second.ended], [true, true]);
});

test('whatever the sources say in turn, all that they say now is known, and what nobody has changed is the same', () => {
  const random = new Random(1);
  const sources = [handSource(), handSource(), handSource()];
  const said: Instances[] = sources.map(() => new Map());
  let heard: Instances = new Map();
  mergedSource(sources).watch(instances => {
    heard = instances;
  });
  for (const source of sources) source.say(new Map());
  for (let round = 0; round < 300; round += 1) {
    const before = heard;
    const at = random.below(sources.length);
    const changed = random.some(['a', 'b', 'c', 'd'], 0.3);
    const kept = [...(said[at] ?? [])].filter(([name]) => !changed.includes(name));
    const fresh = random.some(changed).map(name => [name, [one]] as const);
    const instances = new Map<string, readonly Instance[]>([...kept, ...fresh]);
    said[at] = instances;
    sources[at]?.say(instances);
    for (const name of ['a', 'b', 'c', 'd']) {
      const all = said.flatMap(each => each.get(name) ?? []);
      const known = said.some(each => each.has(name));
      assert.deepEqual(heard.get(name), known ? all : undefined);
      if (!changed.includes(name)) assert.equal(heard.get(name), before.get(name));
    }
  }
});
