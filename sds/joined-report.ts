import type { ReportedFinding } from '#process/report.ts';
import type { Report } from '#process/reporter.ts';

/** Joins the findings of several parts of this process, since a control plane takes one report. */
export type JoinedReport = {
  /** Returns the function by which one more part reports. Findings of earlier parts come first. */
  part(): Report;
  /** Sends what is found from now on. */
  sendBy(report: Report): void;
};

export function joinedReport(): JoinedReport {
  const parts: (() => readonly ReportedFinding[])[] = [];
  let report: Report = () => {};
  const find = () => parts.flatMap(each => each());
  return {
    part() {
      const at = parts.push(() => []) - 1;
      return findings => {
        parts[at] = findings;
        report(find);
      };
    },
    sendBy(sender) {
      report = sender;
      report(find);
    },
  };
}
