import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { outcomeOf, readFixtures } from './testing/fixture.ts';
import { randomCase, seeded } from './testing/random-template.ts';

const CASES = cases({ all: 20_000, quick: 2_000 });

test('no random template throws', () => {
  const random = seeded(1);
  const fixtures = readFixtures();
  for (let index = 0; index < CASES; index++) {
    const tried = randomCase(random, fixtures);
    assert.doesNotThrow(() => outcomeOf(tried), JSON.stringify(tried));
  }
});
