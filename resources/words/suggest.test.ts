import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './suggest.ts';

const WORDS = ['accessTokenValidation', 'host', 'prefix', 'prefix_regex', 'timeout_ms', 'sds'];

const TABLE: readonly [word: string, near: string | undefined][] = [
  ['acessTokenValidation', 'accessTokenValidation'],
  ['accesstokenvalidation', 'accessTokenValidation'],
  ['hots', 'host'],
  ['hosst', 'host'],
  ['prefx', 'prefix'],
  ['prefixregex', 'prefix_regex'],
  ['timeout', 'timeout_ms'],
  ['sd', 'sds'],
  ['x', undefined],
  ['', undefined],
  ['labels', undefined],
  ['tsoh', undefined],
];

for (const [word, near] of TABLE) {
  test(`"${word}" probably means ${near ?? 'nothing that we know'}`, () =>
    assert.equal(nearest(word, WORDS), near));
}
