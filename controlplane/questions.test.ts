import assert from 'node:assert/strict';
import { after as afterAll, type TestContext, test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { explainRequest } from '#controlplane/explain/explain-request.ts';
import { after } from '#process/after.ts';
import { ThreadEnded } from '#process/worker-thread.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { readConfig } from './config.ts';
import { differing } from './diff/testing/differing.ts';
import { compileOptions } from './group-compiler.ts';
import { type QuestionsParts, questions } from './questions.ts';

const mapping = (name: string, service = 'x') =>
  `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /${name}/, service: ${service}}\n`;
const mappings = (most: number) =>
  Array.from({ length: most }, (_, index) => mapping(`m${index}`)).join('');
const requestTo = (path: string) => ({
  method: 'GET',
  url: `http://any.test${path}`,
  headers: [],
  from: '203.0.113.7',
  nodeGroup: 'edge',
});
const SECRET = '---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hunter2}\n';

/** What the questions are about, where `text` is in force. */
function basisOf(text: string): ReturnType<QuestionsParts['basis']> {
  const { resources, rejected, problems } = collect([
    parseFile('old.yaml', text, DEFAULT_PARSE_OPTIONS),
  ]);
  return {
    inForce: { resources, closed: [...rejected.values()] },
    known: problems,
    options: compileOptions(readConfig({})),
    now: Date.UTC(2026, 0, 1),
  };
}

/** Questions about what `basis` returns, and the causes of ended threads. */
function open(basis: QuestionsParts['basis'], parts: Partial<QuestionsParts> = {}) {
  const causes: unknown[] = [];
  const failed = (cause: unknown) => causes.push(cause);
  const options = DEFAULT_PARSE_OPTIONS;
  return { causes, asked: questions({ options, basis, failed, after, ...parts }) };
}

/** The thread of most tests. It has 800 modules, which take most of the time of a test. */
let inForce = basisOf('');
const shared = open(() => inForce);
afterAll(() => shared.asked.close());

/** Questions where `text` is in force. With `parts`, a thread of their own answers them. */
function asking(t: TestContext, text: string, parts?: Partial<QuestionsParts>) {
  inForce = basisOf(text);
  const basis = inForce;
  const { asked, causes } = parts === undefined ? shared : open(() => basis, parts);
  if (parts !== undefined) t.after(() => asked.close());
  const ask = (text: string, remove: readonly string[] = []) =>
    asked.diff({ files: [{ name: 'new.yaml', text }], remove, envoy: true });
  const explain = (path: string) => asked.explain(requestTo(path));
  return { ask, explain, causes };
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
  const { ask, explain } = asking(t, mapping('one'));
  const answers = [1, 2, 3, 4].map(() => ask(mapping('two')));
  const explained = [1, 2, 3, 4].map(() => explain('/one/'));
  assert.equal(ask(mapping('two')), undefined);
  assert.equal(explain('/one/'), undefined);
  assert.deepEqual(
    (await Promise.all(answers)).map(each => each?.routes.length),
    [1, 1, 1, 1],
  );
  assert.deepEqual(
    (await Promise.all(explained)).map(each => each?.route?.targets.length),
    [1, 1, 1, 1],
  );
  assert.equal((await ask(mapping('two')))?.routes.length, 1);
});

test('a thread explains a request as the explanation itself does', async t => {
  const text = mapping('one') + mapping('broken').replace('service', 'servicee');
  const { explain, causes } = asking(t, text);
  const { resources, problems } = resourceSetOf(text, 'old.yaml');
  const options = compileOptions(readConfig({}));
  for (const path of ['/one/', '/broken/', '/none/']) {
    const expected = await explainRequest(requestTo(path), { resources, problems, options });
    assert.deepEqual(await explain(path), JSON.parse(JSON.stringify(expected)), path);
  }
  await assert.rejects(async () => explain(' '), /"http:\/\/any.test "/);
  assert.deepEqual(causes, []);
});

test('the event loop goes round while a question is answered', async t => {
  const { ask, explain } = asking(t, mappings(2_000), {});
  // Packing alone makes 20 turns.
  assert.ok((await turnsDuring(ask(mapping('two')))) > 1_000);
  assert.ok((await turnsDuring(explain('/m7/'))) > 200);
});

/** Returns how often the event loop goes round until the answer. */
async function turnsDuring(answer: Promise<unknown> | undefined): Promise<number> {
  let turns = 0;
  let isMade = false;
  const turn = () => {
    turns += 1;
    if (!isMade) setImmediate(turn);
  };
  turn();
  assert.notEqual(await answer, undefined);
  isMade = true;
  return turns;
}
