import { type CounterTable, levelOf } from './counter-table.ts';
import { waterLevel } from './water-level.ts';

/**
 * Drops keys until the tables together have `room` keys. One step looks at one key. Keys come from
 * the largest tables, and a table smaller than its share loses nothing. Of a table the lowest
 * counts go first, and the oldest of equal ones. So a count above the rate goes after all counts
 * below it.
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
