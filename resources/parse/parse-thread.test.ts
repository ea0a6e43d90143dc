import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { KINDS } from '#resources/kinds/kinds.ts';
import { damagedTexts } from '#resources/testing/damaged-texts.ts';
import { parseDocument } from './parse-document.ts';
import { DEFAULT_PARSE_OPTIONS } from './parse-options.ts';
import { ParseThread, type ThreadParts } from './parse-thread.ts';

const LANGUAGE = { ...DEFAULT_PARSE_OPTIONS, kinds: KINDS };
const MAPPING =
  'apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: a}\nspec: {prefix: /a, service: x}\n';
const TEXTS = cases({ all: 100, quick: 10 });
const large = (items: number) => `a: [${'{b: [c, d, e]}, '.repeat(items)}]`;

function later(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

/** A thread, and the causes that it has ended by. */
function started(t: TestContext, parts: Partial<ThreadParts> = {}) {
  const causes: unknown[] = [];
  const failed = (cause: unknown) => causes.push(cause);
  const thread = new ParseThread({
    options: DEFAULT_PARSE_OPTIONS,
    failed,
    after: later,
    ...parts,
  });
  t.after(() => thread.close());
  const messages = async (text: string) =>
    (await thread.parse([text])).get(text)?.problems.map(({ message }) => message);
  return { thread, causes, messages };
}

test('a thread gives what the parser gives, of right and of damaged documents', async t => {
  const texts = new Set([MAPPING, large(2_000), '', '['.repeat(50_000), ...damagedTexts(TEXTS)]);
  const { thread, causes } = started(t);
  const parsed = await thread.parse(texts);
  assert.deepEqual([...parsed.keys()], [...texts]);
  for (const [text, file] of parsed) assert.deepStrictEqual(file, parseDocument(text, LANGUAGE));
  assert.deepEqual(causes, []);
});

test('a document that takes too much memory is a Problem, and the next ones are parsed', async t => {
  const { thread, causes } = started(t, { memoryMib: 32 });
  const parsed = await thread.parse([MAPPING, large(40_000), `${MAPPING}#`]);
  assert.deepEqual(
    [...parsed.values()].map(({ resources, readable }) => [resources.length, readable]),
    [
      [1, true],
      [0, false],
      [1, true],
    ],
  );
  assert.match(
    [...parsed.values()][1]?.problems[0]?.message ?? '',
    /^Cannot read this YAML: it takes too much memory to parse\. Split it into several$/,
  );
  assert.equal(causes.length, 1);
});

test('a document of which aliases make too much is a Problem', async t => {
  const { messages, causes } = started(t);
  const annotations = (aliases: number) =>
    `{a: &a "${'x'.repeat(500_000)}", b: [${'*a, '.repeat(aliases)}]}`;
  const text = (aliases: number) =>
    MAPPING.replace('{name: a}', `{name: a, annotations: ${annotations(aliases)}}`);
  assert.deepEqual(await messages(text(2)), []);
  const infinities = `{a: &a [${'.inf, '.repeat(6_000)}], b: *a}`;
  for (const much of [
    text(90),
    MAPPING.replace('{name: a}', `{name: a, annotations: ${infinities}}`),
  ])
    assert.deepEqual(await messages(much), [
      'Cannot read this YAML: it holds too much. Split it into several',
    ]);
  assert.deepEqual(causes, []);
});

test('a document that takes too long is a Problem, and another thread parses the next one', async t => {
  let hurry = true;
  const after: ThreadParts['after'] = (ms, callback) => {
    if (!hurry) return later(ms, callback);
    queueMicrotask(callback);
    return () => {};
  };
  const { messages, causes } = started(t, { after });
  assert.deepEqual(await messages(MAPPING), [
    'Cannot read this YAML: it takes longer than 120 s to parse. Split it into several',
  ]);
  hurry = false;
  assert.deepEqual(await messages(MAPPING), []);
  assert.deepEqual(causes, [], 'it did not end by itself');
});

test('what a thread says after it was given up is not taken for the next document', async t => {
  const ticks: (() => void)[] = [];
  const after: ThreadParts['after'] = (_ms, callback) => {
    ticks.push(callback);
    return () => {};
  };
  const { thread, causes } = started(t, { after });
  await thread.parse([MAPPING]);
  ticks.length = 0;
  const [slow, next] = [large(2_000), MAPPING];
  const givenUp = thread.parse([slow]);
  // Nothing is heard of the thread while this one parses the same.
  for (let times = 0; times < 3; times += 1) parseDocument(slow, LANGUAGE);
  while (ticks.length > 0) ticks.shift()?.();
  assert.equal((await givenUp).get(slow)?.readable, false);
  assert.equal((await thread.parse([next])).get(next)?.resources.length, 1);
  assert.deepEqual(causes, []);
});

test('a thread that cannot be started is a Problem', async t => {
  // No other thread can be given these.
  const apiGroups = [Symbol('group')] as unknown as readonly string[];
  const { messages, causes } = started(t, { options: { ...DEFAULT_PARSE_OPTIONS, apiGroups } });
  assert.deepEqual(await messages(MAPPING), [
    'Cannot read this YAML: its parsing failed. The log says why',
  ]);
  assert.equal(causes.length, 1);
});

test('a thread that had nothing to do ends, and another one is there for the next document', async t => {
  const idle: (() => void)[] = [];
  const after: ThreadParts['after'] = (ms, callback) => {
    if (ms > 1_000) idle.push(callback);
    return () => {};
  };
  const { messages, causes } = started(t, { after });
  assert.deepEqual(await messages(MAPPING), []);
  assert.equal(idle.length, 1);
  idle[0]?.();
  assert.deepEqual(await messages(MAPPING), []);
  assert.deepEqual(causes, []);
});

test('closed while it parses, it tells nothing any more, and waits for nothing', async t => {
  let waiting = 0;
  const after: ThreadParts['after'] = () => {
    waiting++;
    return () => void waiting--;
  };
  const { thread, causes } = started(t, { after });
  let told = false;
  void thread.parse([MAPPING]).then(() => {
    told = true;
  });
  assert.equal(waiting, 1);
  thread.close();
  assert.equal(waiting, 0);
  assert.equal((await started(t).thread.parse([MAPPING])).size, 1);
  assert.deepEqual([told, causes], [false, []]);
});
