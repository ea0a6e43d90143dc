import { type CounterTable, levelOf } from './counter-table.ts';
import { waterLevel } from './water-level.ts';

/**
 * Drops keys until the tables have `room` keys together, a step for each key that it looks at. They
 * come from the tables that have the most: one that has less than its share loses nothing. Of a
 * table go the lowest counts, and of equal ones the oldest, so that a count over a rate goes after
 * all below.
 */
export function* sweep(
  tables: ReadonlyMap<string, CounterTable>,
  room: number,
  dropped: (counter: string) => void,
): Generator<void, void> {
  const most = waterLevel(
    [...tables.values()].map(({ size }) => size),
    room,
  );
  for (const [counter, table] of tables) {
    for (const isDropped of sweepTable(table, table.size - most)) {
      if (isDropped) dropped(counter);
      yield;
    }
  }
}

function* sweepTable(table: CounterTable, drop: number): Generator<boolean, void> {
  if (drop <= 0) return;
  const cut = table.cut(drop);
  let { atLevel } = cut;
  let left = drop;
  for (const [name, count] of table.entries()) {
    const level = levelOf(count);
    const isDropped = level < cut.level || (level === cut.level && atLevel > 0);
    if (isDropped) {
      if (level === cut.level) atLevel -= 1;
      table.delete(name, count);
      left -= 1;
    }
    yield isDropped;
    if (left === 0) return;
  }
}
