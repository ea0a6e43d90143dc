import { INSTANCES_OF, type ReportedFinding } from '#process/report.ts';

/** The DNS names of services that have no other instances, and no address. */
export type Unresolved = ReadonlyMap<string, readonly string[]>;

/** A report holds this many of them beside other findings. */
const MOST_REPORTED = 100;
/** Of more names of one service the first are told. */
const MOST_NAMES = 5;

/** Returns what the control plane can tell the operators who wrote the names of the services. */
export function unresolvedFindings(path: string, services: Unresolved): readonly ReportedFinding[] {
  return [...services].slice(0, MOST_REPORTED).map(([service, names]) => ({
    resource: `${INSTANCES_OF}${service}`,
    field: '',
    severity: 'warning',
    message: `DNS has no address for ${listed(names)} of "${service}" in the instances file ${path}`,
    outOfService: false,
  }));
}

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ', …' : '';
  return `${names
    .slice(0, MOST_NAMES)
    .map(name => `"${name}"`)
    .join(', ')}${more}`;
}
