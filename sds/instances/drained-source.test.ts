import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drainedSource } from './drained-source.ts';
import type { Instances } from './instance.ts';

const [ONE, TWO] = [
  { address: '127.0.0.1', port: 1 },
  { address: '127.0.0.1', port: 2 },
];

test('what is drained is left out of all services, until it is no longer', () => {
  let tell: (instances: Instances) => void = () => {};
  let ended = false;
  const source = drainedSource({
    watch: onChange => {
      tell = onChange;
      return () => {
        ended = true;
      };
    },
  });
  const seen: Record<string, unknown>[] = [];
  source.drain([ONE]);
  const end = source.watch(instances => seen.push(Object.fromEntries(instances)));
  assert.equal(seen.length, 0, 'nothing is known yet');
  tell(
    new Map([
      ['a', [ONE, TWO]],
      ['b', [TWO]],
      ['c', [ONE]],
    ]),
  );
  assert.deepEqual(seen.at(-1), { a: [TWO], b: [TWO], c: [] });
  tell(new Map([['a', [{ address: '2001:db8::1', port: 1 }]]]));
  source.drain([{ address: '2001:DB8:0::1', port: 1 }]);
  assert.deepEqual(seen.at(-1), { a: [] }, 'however an order spells the address');
  tell(
    new Map([
      ['a', [ONE, TWO]],
      ['b', [TWO]],
      ['c', [ONE]],
    ]),
  );
  source.drain([]);
  assert.deepEqual(seen.at(-1), { a: [ONE, TWO], b: [TWO], c: [ONE] });
  end();
  assert.ok(ended);
});
