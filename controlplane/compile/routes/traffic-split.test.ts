import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitTraffic } from './traffic-split.ts';

const CASES: readonly {
  name: string;
  given: readonly (number | undefined)[];
  weights: readonly number[];
  warning?: RegExp;
}[] = [
  { name: 'one alone has everything', given: [undefined], weights: [100] },
  { name: 'the rest goes to the one without weight', given: [10, undefined], weights: [10, 90] },
  { name: 'the rest is shared equally', given: [10, undefined, undefined], weights: [20, 90, 90] },
  {
    name: 'three without weight share equally',
    given: [undefined, undefined, undefined],
    weights: [100, 100, 100],
    warning:
      /^3 Mappings match the same requests and none has a `weight`: requests are spread equally/,
  },
  { name: 'weights that make 100 stand', given: [99, 1], weights: [99, 1] },
  {
    name: 'weights below 100 are parts of their sum',
    given: [10, 20],
    weights: [10, 20],
    warning: /add up to 30/,
  },
  {
    name: 'weights above 100 are parts of their sum',
    given: [80, 70],
    weights: [80, 70],
    warning: /add up to 150/,
  },
  {
    name: 'nothing is left',
    given: [100, undefined],
    weights: [100, 0],
    warning: /nothing is left/,
  },
  {
    name: 'less than nothing is left',
    given: [90, 20, undefined],
    weights: [90, 20, 0],
    warning: /up to 110/,
  },
  {
    name: 'no weight at all is an equal split',
    given: [0, 0],
    weights: [1, 1],
    warning: /every weight is 0/,
  },
  { name: '0 beside one without weight gets nothing', given: [0, undefined], weights: [0, 100] },
];

for (const { name, given, weights, warning } of CASES) {
  test(name, () => {
    const split = splitTraffic(given);
    assert.deepEqual(split.weights, weights);
    if (warning === undefined) assert.equal(split.warning, undefined);
    else assert.match(split.warning ?? '', warning);
  });
}
