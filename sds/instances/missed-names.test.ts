import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance, Instances } from './instance.ts';
import { NO_SUCH_PORT } from './instances-named.ts';
import { missedNames } from './missed-names.ts';

const WITHOUT: Instances = new Map([
  ['shop', []],
  ['shop:http', []],
  ['shop:8080', []],
  ['shopping:1', []],
  ['shop:*', NO_SUCH_PORT],
]);
const WITH: Instances = new Map([...WITHOUT, ['shop:80', []]]);

test('a port that nobody has is told once with those that there are, and again when it was there in between', () => {
  const told: string[] = [];
  const missed = missedNames(({ name, ports }) => told.push(`${name}: ${ports}`));
  const serve = (instances: Instances) => {
    missed.served(instances);
    missed.asked('shop:80');
  };
  serve(WITHOUT);
  serve(WITHOUT);
  assert.deepEqual(told, ['shop:80: 8080,http']);
  assert.deepEqual(missed.names(), [{ name: 'shop:80', ports: ['8080', 'http'] }]);
  missed.served(WITH);
  assert.deepEqual(missed.names(), []);
  serve(WITHOUT);
  assert.equal(told.length, 2);
});

/** It may be walked through once. */
class Once extends Map<string, readonly Instance[]> {
  #walked = false;

  override [Symbol.iterator]() {
    assert.ok(!this.#walked, 'it was walked through again');
    this.#walked = true;
    return super[Symbol.iterator]();
  }
}

const MEANT: readonly [asked: string, message: string][] = [
  ['shpo', 'the discovery service knows no "shpo", did you mean `shop`?'],
  ['shpo:8080', 'the discovery service knows no "shpo:8080", did you mean `shop`?'],
  ['user', 'the discovery service knows no "user", did you mean `user.default`?'],
  ['nothing-like-it', 'the discovery service knows no "nothing-like-it"'],
  ['', 'the discovery service knows no ""'],
  [
    'shop:80',
    'the discovery service knows no instance of "shop:80". The service has the ports 8080, http',
  ],
];

for (const [asked, message] of MEANT) {
  test(`an operator hears of "${asked}": ${message}`, () => {
    const missed = missedNames(() => {});
    missed.served(new Map([...WITHOUT, ['user.default', []]]));
    missed.asked(asked);
    const [finding, more] = missed.findings();
    assert.equal(more, undefined);
    assert.deepEqual([finding?.resource, finding?.message], [`instances/${asked}`, message]);
    missed.served(new Map([...WITHOUT, [asked, []]]));
    assert.deepEqual(missed.findings(), []);
  });
}

test('an instance that comes later may be the one that was meant', () => {
  const missed = missedNames(() => {});
  missed.asked('shpo');
  missed.served(WITHOUT);
  missed.asked('shpo');
  assert.match(missed.findings()[0]?.message ?? '', /did you mean `shop`/);
});

test('of endless names the latest are reported, soon', () => {
  const missed = missedNames(() => {});
  missed.served(new Map(Array.from({ length: 100_000 }, (_, at) => [`service-${at}.shop`, []])));
  const begun = performance.now();
  for (let at = 0; at < 5_000; at += 1) missed.asked(`servic-${at}`);
  const findings = missed.findings();
  assert.deepEqual([missed.names().length, findings.length], [1_000, 100]);
  assert.equal(findings.at(-1)?.resource, 'instances/servic-4999');
  assert.ok(performance.now() - begun < 5_000);
});

test('whoever asks for all ports can neither fill the memory nor have each looked for', () => {
  const missed = missedNames(() => {});
  missed.served(new Once([...WITHOUT]));
  for (let port = 1; port < 5_000; port += 1) missed.asked(`shop:${port}`);
  assert.equal(missed.names().length, 1_000);
});
