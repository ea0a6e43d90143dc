import type { Any } from '#protos/encode.ts';
import { encodeReport, type ReportedFinding } from './report.ts';
import { NO_FACTS, type ServiceFacts } from './service-facts.ts';

export type ReporterParts = {
  /**
   * Tells the control plane, and replaces what it was told before. Undefined means that nothing is
   * wrong.
   */
  send(report: Any | undefined): void;
  /** Hears what is newly found, and what is gone. */
  changed?(found: readonly ReportedFinding[], gone: readonly ReportedFinding[]): void;
  /** What else is told, which is no finding. Default: nothing. */
  facts?(): ServiceFacts;
  after(ms: number, run: () => void): () => void;
};

/** What an edit withdraws and finds again within this time, in ms, was never gone. */
const SETTLE_MS = 500;

/**
 * Takes the function that finds all that is wrong now. Is called whenever that may have changed.
 */
export type Report = (find: () => readonly ReportedFinding[]) => void;

/** Asks what is found when it may have changed, and passes on what did, at most twice a second. */
export function reporter({ after, changed, facts = () => NO_FACTS, send }: ReporterParts): Report {
  let told = new Map<string, ReportedFinding>();
  let toldFacts = JSON.stringify(NO_FACTS);
  let find: () => readonly ReportedFinding[] = () => [];
  let waiting = false;
  const settle = () => {
    waiting = false;
    const known = told;
    told = new Map(find().map(finding => [JSON.stringify(finding), finding]));
    const found = [...told].filter(([text]) => !known.has(text)).map(([, finding]) => finding);
    const gone = [...known].filter(([text]) => !told.has(text)).map(([, finding]) => finding);
    const now = facts();
    const text = JSON.stringify(now);
    if (found.length + gone.length === 0 && text === toldFacts) return;
    toldFacts = text;
    if (found.length + gone.length > 0) changed?.(found, gone);
    send(encodeReport([...told.values()], now));
  };
  return newest => {
    find = newest;
    if (waiting) return;
    waiting = true;
    after(SETTLE_MS, settle);
  };
}
