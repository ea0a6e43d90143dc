import type { Any } from '#protos/encode.ts';
import type { OrderOutcome } from './order-outcomes.ts';
import { encodeReport, type ReportedFinding } from './report.ts';

export type ReporterParts = {
  /**
   * Tells the control planes, and replaces what they were told before. Undefined means that there
   * is nothing to tell. `answered` is for the one that gives orders, with their outcomes.
   */
  send(report: Any | undefined, answered: Any | undefined): void;
  /** Hears what is newly found, and what is gone. */
  changed?(found: readonly ReportedFinding[], gone: readonly ReportedFinding[]): void;
  /** Returns what became of orders. Default: nothing. */
  outcomes?(): readonly OrderOutcome[];
  after(ms: number, run: () => void): () => void;
};

/** What an edit withdraws and finds again within this time, in ms, was never gone. */
const SETTLE_MS = 500;

/**
 * Takes the function that finds all that is wrong now. Is called whenever that may have changed.
 */
export type Report = (find: () => readonly ReportedFinding[]) => void;

export type Reporter = {
  readonly report: Report;
  /** Is called when there are other outcomes. */
  answered(): void;
};

/** Asks what is found when it may have changed, and passes on what did, at most twice a second. */
export function reporter({ after, changed, outcomes = () => [], send }: ReporterParts): Reporter {
  let told = new Map<string, ReportedFinding>();
  let toldOutcomes = '[]';
  let find: () => readonly ReportedFinding[] = () => [];
  let waiting = false;
  const settle = () => {
    waiting = false;
    const known = told;
    told = new Map(find().map(finding => [JSON.stringify(finding), finding]));
    const found = [...told].filter(([text]) => !known.has(text)).map(([, finding]) => finding);
    const gone = [...known].filter(([text]) => !told.has(text)).map(([, finding]) => finding);
    const now = outcomes();
    const text = JSON.stringify(now);
    if (found.length + gone.length === 0 && text === toldOutcomes) return;
    toldOutcomes = text;
    if (found.length + gone.length > 0) changed?.(found, gone);
    const all = [...told.values()];
    send(encodeReport(all), encodeReport(all, now));
  };
  const soon = () => {
    if (waiting) return;
    waiting = true;
    after(SETTLE_MS, settle);
  };
  return {
    report: newest => {
      find = newest;
      soon();
    },
    answered: soon,
  };
}
