import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '#resources/resource.ts';
import { documentOf, parseText, problemLines } from '#resources/testing/problem-lines.ts';

const right = (key: string) => ({ pattern: [{ [key]: '' }], rate: 1, unit: 'day' });
const read = (spec: object) => parseText(documentOf('RateLimit', { domain: 'd', ...spec }, 'two'));

/** Formats each limit that is read: its name, and the first key of its pattern. */
function limitsOf(spec: object): readonly string[] {
  const [limits] = read(spec).resources as readonly Resource<'RateLimit'>[];
  return (limits?.spec.limits ?? []).map(
    ({ name = '-', pattern }) => `${name} ${pattern[0]?.[0]?.key}`,
  );
}

test('limits beside a wrong one count, with the default names that they had', () => {
  for (const wrong of [
    { ...right('b'), unit: 'fortnight' },
    { ...right('b'), pattern: undefined }, // a rule between fields
    { ...right('b'), labels: ['x'] },
    'no limit',
  ]) {
    const limits = [right('a'), wrong, { ...right('c'), name: 'own' }, right('d')];
    const parsed = read({ limits });
    assert.deepEqual(limitsOf({ limits }), ['two.default-0 a', 'own c', 'two.default-3 d']);
    assert.deepEqual([parsed.rejected, parsed.resources[0]?.partial], [[], true]);
    assert.deepEqual(parsed.resources[0]?.limitsAt, [0, 2, 3]);
    const [first] = problemLines(parsed);
    assert.match(first ?? '', /^1 error spec\.limits\[1\]/, JSON.stringify(wrong));
    assert.equal(parsed.problems.length, 1);
  }
});

test('each wrong limit is told once, whatever is wrong with it', () => {
  const limits = [{ ...right('a'), pattern: undefined }, right('b'), { ...right('c'), rate: -1 }];
  assert.deepEqual(limitsOf({ limits }), ['two.default-1 b']);
  assert.deepEqual(
    problemLines(read({ limits })).map(line => line.replace(/:.*/, '')),
    ['1 error spec.limits[2].rate', '1 error spec.limits[0].pattern'],
  );
});

test('the limits of targets count by themselves too', () => {
  const targetRefs = [{ kind: 'HTTPRoute', name: 'r' }];
  const limits = [
    { rate: 'many', unit: 'day' },
    { rate: 1, unit: 'day' },
  ];
  const [limit] = read({ targetRefs, limits }).resources as readonly Resource<'RateLimit'>[];
  assert.deepEqual(
    limit?.spec.limits.map(({ name }) => name),
    ['two.default-1'],
  );
  assert.deepEqual(limit?.spec.targetRefs, [
    { group: 'gateway.networking.k8s.io', ...targetRefs[0] },
  ]);
});

test('a RateLimit with an error elsewhere, or without a right limit, is rejected', () => {
  const wrong = { ...right('b'), rate: -1 };
  for (const spec of [
    { limits: [wrong] },
    { limits: [right('a'), wrong], domain: 5 },
    { limits: [right('a'), wrong], targetRef: { kind: 'HTTPRoute', name: 'r' } },
    { limits: { a: wrong } },
  ]) {
    const { rejected, resources } = read(spec);
    assert.deepEqual([rejected.length, resources.length], [1, 0], JSON.stringify(spec));
  }
});

test('what has no wrong limit is whole, and is another version', () => {
  const limits = [{ ...right('a'), name: 'own' }];
  const [whole] = read({ limits }).resources;
  const [part] = read({ limits: [...limits, { ...right('b'), rate: -1 }] }).resources;
  assert.deepEqual(part?.spec, whole?.spec);
  assert.deepEqual([whole?.partial, part?.partial], [undefined, true]);
  assert.notEqual(part?.hash, whole?.hash);
});
