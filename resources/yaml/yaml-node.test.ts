import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alias, isScalar, parseDocument, visit } from 'yaml';
import { createResolve } from './yaml-node.ts';

function aliasesIn(text: string): readonly unknown[] {
  const document = parseDocument(text);
  const resolve = createResolve(document);
  const targets: unknown[] = [];
  visit(document, {
    Alias(_key, alias) {
      const target = resolve(alias);
      targets.push(isScalar(target) ? target.value : target);
    },
  });
  return targets;
}

test('an alias means the last anchor of its name before it', () => {
  assert.deepEqual(aliasesIn('[*a, &a 1, *a, &b 2, *a, &a 3, *a, *b]'), [undefined, 1, 1, 3, 2]);
});

test('an alias as a key is found too', () => {
  assert.deepEqual(aliasesIn('{&a k: 1, *a : 2}'), ['k']);
});

test('what is no alias is itself', () => {
  const document = parseDocument('a: 1');
  assert.equal(createResolve(document)(document.contents), document.contents);
  assert.equal(createResolve(document)(null), null);
});

test('an alias of another document is unknown', () => {
  assert.equal(createResolve(parseDocument('&a 1'))(new Alias('a')), undefined);
});
