import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instances } from './instance.ts';
import { NO_SUCH_PORT } from './instances-named.ts';
import { missedPorts } from './missed-ports.ts';

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
  const missed = missedPorts((name, known) => told.push(`${name}: ${known}`));
  const serve = (instances: Instances) => {
    missed.served(instances);
    missed.asked('shop:80');
  };
  serve(WITHOUT);
  serve(WITHOUT);
  assert.deepEqual(told, ['shop:80: 8080,http']);
  assert.deepEqual(missed.names(), ['shop:80']);
  missed.served(WITH);
  assert.deepEqual(missed.names(), []);
  serve(WITHOUT);
  assert.equal(told.length, 2);
});

test('whoever asks for all ports cannot fill the memory', () => {
  const missed = missedPorts(() => {});
  missed.served(WITHOUT);
  for (let port = 1; port < 5_000; port += 1) missed.asked(`shop:${port}`);
  assert.equal(missed.names().length, 1_000);
});
