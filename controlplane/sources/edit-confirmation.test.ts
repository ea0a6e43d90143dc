import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pino from 'pino';
import { accept, type Rollout, startRollout, want } from '#controlplane/rollout/rollout.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { confirmEdits } from './edit-confirmation.ts';

const mapping = (name: string, service = name) =>
  `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: { name: ${name} }\nspec: { prefix: /${name}/, service: ${service} }\n`;

const secret = '---\napiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData: { a: b }\n';

/** Acts as an operator who saves files, and as proxies that accept or reject them. */
function operator() {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line).msg) });
  let clock = 0;
  let rollout: Rollout = startRollout(new Map());
  const edits = confirmEdits(log, '/etc/state', () => clock);
  return {
    lines,
    pass: (ms: number) => {
      clock += ms;
    },
    save(files: Readonly<Record<string, string>>) {
      const parsed = Object.entries(files).map(([file, text]) =>
        parseFile(`/etc/${file}`, text, DEFAULT_PARSE_OPTIONS),
      );
      const written = collect(parsed);
      edits.written(written);
      rollout = want(rollout, written.resources);
      edits.settled(rollout);
    },
    take() {
      rollout = accept(rollout);
      edits.settled(rollout);
    },
  };
}

describe('a saved edit', () => {
  test('is confirmed when the proxies have taken it, with the time that it took', () => {
    const { lines, pass, save, take } = operator();
    save({ 'shop.yaml': mapping('a') });
    take();
    assert.deepEqual(lines, [], 'what is there at the start is no edit');
    save({ 'shop.yaml': mapping('a') + mapping('b') + mapping('c') });
    pass(41);
    assert.deepEqual(lines, []);
    take();
    assert.deepEqual(lines, ['shop.yaml: 3 routes in force after 41 ms']);
    take();
    assert.equal(lines.length, 1);
  });

  test('is confirmed for its own file alone', () => {
    const { lines, save, take } = operator();
    save({ 'a.yaml': mapping('a'), 'b.yaml': mapping('b'), 's.yaml': secret });
    take();
    save({
      'a.yaml': mapping('a', 'other'),
      'b.yaml': mapping('b'),
      's.yaml': secret.replace('a: b', 'a: c'),
    });
    take();
    assert.deepEqual(lines, [
      'a.yaml: 1 route in force after 1 ms',
      's.yaml: 1 resource in force after 1 ms',
    ]);
  });

  test('that removes a file is confirmed, one that changes no meaning is not', () => {
    const { lines, save, take } = operator();
    save({ 'a.yaml': mapping('a'), 'b.yaml': mapping('b') });
    take();
    save({ 'a.yaml': `# A comment.\n${mapping('a')}`, 'b.yaml': mapping('b') });
    take();
    assert.deepEqual(lines, []);
    save({ 'a.yaml': mapping('a') });
    take();
    assert.deepEqual(lines, ['b.yaml: nothing of it in force after 1 ms']);
  });

  test('of the gateway itself is not told', () => {
    const { lines, save, take } = operator();
    save({});
    take();
    save({ 'state/user-service-1.yaml': mapping('a'), 'state-of-mine.yaml': mapping('b') });
    take();
    assert.deepEqual(lines, ['state-of-mine.yaml: 1 route in force after 1 ms']);
  });

  test('of very many files is one line', () => {
    const { lines, save, take } = operator();
    const files = (service: string) =>
      Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [`${at}.yaml`, mapping(`m${at}`, service)]),
      );
    save(files('one'));
    take();
    save(files('two'));
    take();
    assert.deepEqual(lines, ['30 files: 30 routes in force after 1 ms']);
  });
});
