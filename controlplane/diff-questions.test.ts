import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { after } from '#process/after.ts';
import { ThreadEnded } from '#process/worker-thread.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { readConfig } from './config.ts';
import { differing } from './diff/testing/differing.ts';
import { type DiffQuestionsParts, diffQuestions } from './diff-questions.ts';
import { compileOptions } from './group-compiler.ts';

const mapping = (name: string, service = 'x') =>
  `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /${name}/, service: ${service}}\n`;
const mappings = (most: number) =>
  Array.from({ length: most }, (_, index) => mapping(`m${index}`)).join('');
const SECRET = '---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hunter2}\n';

/** Questions about what would change where `text` is in force, and the causes of ended threads. */
function asking(t: TestContext, text: string, parts: Partial<DiffQuestionsParts> = {}) {
  const { resources, rejected, problems } = collect([
    parseFile('old.yaml', text, DEFAULT_PARSE_OPTIONS),
  ]);
  const causes: unknown[] = [];
  const questions = diffQuestions({
    options: DEFAULT_PARSE_OPTIONS,
    basis: () => ({
      inForce: { resources, closed: [...rejected.values()] },
      known: problems,
      options: compileOptions(readConfig({})),
      now: Date.UTC(2026, 0, 1),
    }),
    failed: cause => causes.push(cause),
    after,
    ...parts,
  });
  t.after(() => questions.close());
  const ask = (text: string, remove: readonly string[] = []) =>
    questions.ask({ files: [{ name: 'new.yaml', text }], remove, envoy: true });
  return { ask, causes };
}

test('a thread gives what the comparison gives, and no secret', async t => {
  const before = SECRET + mapping('a') + mapping('broken').replace('service', 'servicee');
  const next = SECRET.replace('hunter2', 'hunter3') + mapping('a', 'y') + mapping('b');
  const { ask, causes } = asking(t, before);
  const answered = await ask(next);
  const expected = differing(before, next, {});
  assert.deepEqual(answered?.routes, JSON.parse(JSON.stringify(expected.routes)));
  assert.deepEqual(answered?.resources, JSON.parse(JSON.stringify(expected.resources)));
  assert.ok((answered?.envoy.length ?? 0) > 0);
  assert.doesNotMatch(JSON.stringify(answered), /hunter|aHVudGVy/);
  assert.deepEqual(causes, []);
});

test('a mistake in a question is told, and the next question is answered', async t => {
  const { ask, causes } = asking(t, mapping('one'));
  await assert.rejects(async () => ask('', ['Mapping/default/on']), {
    message: /^no resource "Mapping\/default\/on" is in force/,
  });
  assert.equal((await ask('['.repeat(50_000)))?.problems.length, 1);
  assert.equal((await ask(''))?.problems.length, 0);
  assert.deepEqual(causes, []);
});

test('a comparison that takes too much memory ends its thread alone', async t => {
  const { ask, causes } = asking(t, mapping('one'), { memoryMib: 8 });
  for (const many of [1, 2]) {
    const error = await Promise.resolve(ask(mapping('two'))).catch(error => error);
    assert.ok(error instanceof ThreadEnded);
    assert.equal(error.message, 'the comparison takes too much memory. Ask about fewer documents');
    assert.equal(causes.length, many);
  }
});

test('a comparison that takes too long is ended', async t => {
  let hurry = true;
  const { ask, causes } = asking(t, mapping('one'), {
    after: (ms, run) => {
      if (!hurry) return after(ms, run);
      queueMicrotask(run);
      return () => {};
    },
  });
  await assert.rejects(async () => ask(mapping('two')), {
    message: 'the comparison takes longer than 60 s. Ask about fewer documents',
  });
  hurry = false;
  assert.equal((await ask(mapping('two')))?.routes.length, 1);
  assert.deepEqual(causes, [], 'it did not end by itself');
});

test('a few questions wait, and no more', async t => {
  const { ask } = asking(t, mapping('one'));
  const answers = [1, 2, 3, 4].map(() => ask(mapping('two')));
  assert.equal(ask(mapping('two')), undefined);
  assert.deepEqual(
    (await Promise.all(answers)).map(each => each?.routes.length),
    [1, 1, 1, 1],
  );
  assert.equal((await ask(mapping('two')))?.routes.length, 1);
});

test('the event loop goes round while a difference is made', async t => {
  const { ask } = asking(t, mappings(2_000));
  let turns = 0;
  let isMade = false;
  const turn = () => {
    turns += 1;
    if (!isMade) setImmediate(turn);
  };
  turn();
  assert.equal((await ask(mapping('two')))?.routes.length, 1);
  isMade = true;
  // Packing alone makes 20 turns.
  assert.ok(turns > 1_000, `${turns} turns`);
});
