import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceChange } from './difference.ts';
import { fieldChanges } from './field-changes.ts';

/** All resources of one side by id: those in force, and those that are closed. */
export type Side = ReadonlyMap<string, Resource | Rejected>;

/** Returns the resources that differ, in the order of their ids. */
export function resourceChanges(before: Side, after: Side): readonly ResourceChange[] {
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort();
  return ids.flatMap(id => changeOf(id, before.get(id), after.get(id)) ?? []);
}

function changeOf(
  id: string,
  before: Resource | Rejected | undefined,
  after: Resource | Rejected | undefined,
): ResourceChange | undefined {
  const { source } = after ?? before ?? {};
  if (source === undefined) return undefined;
  const changed = { id, ...source, fields: [] };
  if (before === undefined) return { change: isInForce(after) ? 'added' : 'closed', ...changed };
  if (after === undefined) return { change: 'removed', ...changed };
  if (!isInForce(before) && isInForce(after)) return { change: 'opened', ...changed };
  if (!isInForce(before) || !isInForce(after))
    return isClosedAlike(before, after) ? undefined : { change: 'closed', ...changed };
  if (before.hash === after.hash) return undefined;
  return {
    change: 'changed',
    ...changed,
    fields: fieldChanges(writtenOf(before), writtenOf(after)),
  };
}

/** Whether both are rejected, and close the same requests as Mappings. */
function isClosedAlike(before: Resource | Rejected, after: Resource | Rejected): boolean {
  if (isInForce(before) || isInForce(after)) return false;
  return JSON.stringify(before.match) === JSON.stringify(after.match);
}

/** By labels Hosts choose Mappings, and Listeners Hosts. */
function writtenOf({ metadata, spec }: Resource): object {
  return { ...spec, 'metadata.labels': metadata?.labels ?? {} };
}

export function isInForce(item: Resource | Rejected | undefined): item is Resource {
  return item !== undefined && 'spec' in item;
}
