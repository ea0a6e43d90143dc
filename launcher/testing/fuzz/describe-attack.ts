import type { AttackReport } from './attack.ts';

/** Returns a report for people: counts by port, memory by process, and what has ended. */
export function describeAttack({ counts, exits, memory }: AttackReport): string {
  const sent = [...counts].map(
    ([name, { sent, answered }]) => `${name.padEnd(34)} ${sent} sent, ${answered} answered`,
  );
  const held = [...memory].map(
    ([name, { before, after }]) =>
      `${name.padEnd(34)} ${before.toFixed(0)} MiB, then ${after.toFixed(0)} MiB`,
  );
  const ended = `processes that ended: ${exits.length === 0 ? 'none' : exits.join(', ')}`;
  return `${[...sent, '', ...held, '', ended].join('\n')}\n`;
}
