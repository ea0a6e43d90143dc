import { count } from '../validate-output.ts';
import type { Change, Site } from './change.ts';
import { compareVersions } from './versions.ts';

export type UpgradeReport = {
  /** Absent when it is not known, which is before there were releases. */
  readonly from?: string;
  readonly to: string;
  readonly changes: readonly (Omit<Change, 'find'> & { readonly places: readonly string[] })[];
};

/**
 * Returns which changes between two versions concern this site.
 * @throws an Error when `from` is the newer one, since only that one knows what is between
 */
export function upgradeReport(
  changes: readonly Change[],
  site: Site,
  to: string,
  from?: string,
): UpgradeReport {
  if (from !== undefined && compareVersions(from, to) > 0)
    throw new Error(
      `version ${from} is newer than this one, ${to}: run upgrade-check of version ${from} to see what a way back takes away`,
    );
  const between = changes.filter(
    ({ version }) =>
      compareVersions(version, to) <= 0 &&
      (from === undefined || compareVersions(version, from) > 0),
  );
  const found = between.map(({ find, ...change }) => ({ ...change, places: find(site) }));
  return {
    ...(from !== undefined && { from }),
    to,
    changes: found.filter(({ places }) => places.length > 0),
  };
}

/** What `--output` may be. */
export const REPORTS = {
  text: describeReport,
  json: (report: UpgradeReport) => `${JSON.stringify(report, null, 2)}\n`,
} as const satisfies Readonly<Record<string, (report: UpgradeReport) => string>>;

function describeReport({ changes, from, to }: UpgradeReport): string {
  const parts = changes.map(({ id, places, remedy, version, what }) =>
    [`${id}, since ${version}`, ...shortened(places), what, remedy, ''].join('\n  ').trimEnd(),
  );
  const way = from === undefined ? `to ${to}` : `from ${from} to ${to}`;
  const verb = changes.length === 1 ? 'concerns' : 'concern';
  return [...parts, `${count(changes.length, 'change')} ${way} ${verb} you`, ''].join('\n');
}

const MOST_PLACES = 20;

function shortened(places: readonly string[]): readonly string[] {
  if (places.length <= MOST_PLACES) return places;
  return [...places.slice(0, MOST_PLACES), `and ${places.length - MOST_PLACES} more`];
}
