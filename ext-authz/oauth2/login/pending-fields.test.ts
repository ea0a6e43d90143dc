import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, pendingFields } from './pending-fields.ts';

const NAME = '__Host-gateway_pending.site.default';
const TAB = `${NAME}~0123abcd`;

function fieldsOf(...pairs: readonly (readonly [string, string])[]) {
  const cookie = pairs.map(([name, value]) => `${name}=${value}`).join('; ');
  return pendingFields({ headers: new Map([['cookie', [cookie]]]) }, NAME);
}

for (const length of [1, 3_799, 3_800, 3_801, 7_601, 11_400]) {
  test(`a text of ${length} letters comes back whole, in cookies that browsers keep`, () => {
    const text = 'x'.repeat(length);
    const parts = partsOf(TAB, text) ?? [];
    for (const [name, value] of parts) assert.ok(name.length + value.length <= 4_096);
    const [field, ...others] = fieldsOf(['a', '1'], ...parts.toReversed());
    assert.deepEqual([field?.name, field?.text, others], [TAB, text, []]);
    assert.deepEqual(
      field?.names,
      parts.map(([name]) => name),
    );
  });
}

test('a text that needs a fourth part has none', () => {
  assert.equal(partsOf(TAB, 'x'.repeat(11_401)), undefined);
});

test('a text whose part is missing, or comes with two values, does not count', () => {
  const [first, second, third] = partsOf(TAB, 'x'.repeat(11_000)) ?? [];
  assert.ok(first && second && third);
  assert.equal(fieldsOf(first, second)[0]?.text, '');
  assert.equal(fieldsOf(first, second, third, [second[0], 'other'])[0]?.text, '');
  assert.equal(fieldsOf(first, first, second, third)[0]?.text.length, 11_000);
});

test('parts that are left of a longer text do not count', () => {
  const [, second] = partsOf(TAB, 'x'.repeat(5_000)) ?? [];
  assert.ok(second);
  assert.equal(
    fieldsOf(['__Host-gateway_pending.site.default~0123abcd', '1y'], second)[0]?.text,
    'y',
  );
});

for (const name of [
  `${NAME}~`,
  `${NAME}~3`,
  `${NAME}~0123ABCD`,
  `${NAME}.x`,
  `x${NAME}`,
  `\u00a0${NAME}`,
]) {
  test(`"${name}" is another cookie`, () => {
    assert.deepEqual(fieldsOf([name, '1x']), []);
  });
}

test('a field of 60,000 blanks is read in a moment', () => {
  const before = process.cpuUsage();
  fieldsOf([`a${' '.repeat(30_000)}x`, '1'], [`${' '.repeat(30_000)}${NAME}`, '1x']);
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});
