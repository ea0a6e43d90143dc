import type { Memo } from '#controlplane/compile/memo.ts';

/** Asks something of the context. A value that did not change must be the very same. */
export type Ask<Context> = <Value>(look: (context: Context) => Value) => Value;

type Answer<Context> = {
  readonly look: (context: Context) => unknown;
  readonly value: unknown;
};

type Entry<Context> = {
  readonly inputs: readonly unknown[];
  readonly answers: readonly Answer<Context>[];
  readonly result: unknown;
};

/**
 * Returns what `make` gives for this owner. The earlier result is returned while the inputs are the
 * same, and the context still answers all that `make` asked for in the same way. So nobody has to
 * list what a result depends on. `make` must depend on nothing else. A look must not hold on to the
 * context that it is given.
 */
export function remembered<Context, Result>(
  { memo, context }: { readonly memo: Memo; readonly context: Context },
  owner: object,
  what: string,
  inputs: readonly unknown[],
  make: (ask: Ask<Context>) => Result,
): Result {
  const cell = memo.of<{ entry?: Entry<Context> }>(owner, what, [], () => ({}));
  const known = cell.entry;
  if (known !== undefined && isSame(known, inputs, context)) return known.result as Result;
  const answers: Answer<Context>[] = [];
  const result = make(look => {
    const value = look(context);
    answers.push({ look, value });
    return value;
  });
  cell.entry = { inputs, answers, result };
  return result;
}

function isSame<Context>(
  known: Entry<Context>,
  inputs: readonly unknown[],
  context: Context,
): boolean {
  return (
    known.inputs.length === inputs.length &&
    known.inputs.every((input, index) => input === inputs[index]) &&
    known.answers.every(({ look, value }) => look(context) === value)
  );
}
