import { decodeAny } from '#protos/decode.ts';
import type { Any } from '#protos/encode.ts';
import { type Json, type JsonObject, objectsIn } from '#protos/json.ts';

/** What became of an order at one process: `gateway.config.v1.OrderOutcome`. */
export type OrderOutcome = {
  /** The name of the order. */
  readonly order: string;
  /** Whether it is about the end of an order that had lasted. */
  readonly withdrawn: boolean;
  readonly failed: boolean;
  /** What was done, or why it could not be. Without secrets. */
  readonly text: string;
};

/** The newest that are told. */
export const MOST_OUTCOMES = 50;
const LONGEST = 300;

/** Returns the field of a Report that holds the outcomes, cut to what may be told. */
export function outcomeField(outcomes: readonly OrderOutcome[]): JsonObject {
  return {
    outcomes: outcomes.slice(-MOST_OUTCOMES).map(({ failed, order, text, withdrawn }) => ({
      ...{ order: cut(order), withdrawn, failed, text: cut(text) },
    })),
  };
}

/** Returns the outcomes of a Report that was accepted, cut to what may be told. */
export function decodeOutcomes(report: Any): readonly OrderOutcome[] {
  return objectsIn(decodeAny(report).outcomes)
    .slice(-MOST_OUTCOMES)
    .map(({ failed, order, text, withdrawn }) => ({
      ...{ order: textOf(order), withdrawn: withdrawn === true },
      ...{ failed: failed === true, text: textOf(text) },
    }));
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? cut(value) : '';
}

function cut(text: string): string {
  return text.slice(0, LONGEST).toWellFormed();
}
