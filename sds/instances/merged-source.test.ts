import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instances } from './instance.ts';
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
    heard.map(instances => [...instances]),
    [
      [['s', [one, two]]],
      [
        ['s', [one]],
        ['t', [two]],
      ],
    ],
  );
  end();
  assert.deepEqual([first.ended, second.ended], [true, true]);
});
