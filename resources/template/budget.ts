/**
 * What one evaluation may still use. `steps` decreases. `longest` is the greatest length of a text
 * that it makes, in UTF-16 units.
 */
export type Budget = { steps: number; readonly longest: number };

/** How many characters cost as much as one step. */
const CHARACTERS_A_STEP = 64;

/** A template that does too much. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/** Takes steps for work on this many characters. */
export function spend(budget: Budget, steps: number, characters = 0): void {
  budget.steps -= steps + Math.floor(characters / CHARACTERS_A_STEP);
  if (budget.steps < 0) throw new LimitError('the template takes too many steps');
}

/** Rejects a text that would become longer than allowed. */
export function checkLength(budget: Budget, length: number): void {
  if (length > budget.longest)
    throw new LimitError(`the template makes a text of more than ${budget.longest} characters`);
}
