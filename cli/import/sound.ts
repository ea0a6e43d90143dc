import type { Problem } from '#resources/problem.ts';
import type { Fields } from '#resources/words/fields.ts';
import { type ImportedDocument, toYaml } from './document.ts';
import { fieldsAt, listAt } from './fields-at.ts';
import type { Imported } from './imported.ts';
import { MATCH_FIELDS } from './match-fields.ts';
import type { Effect } from './remark.ts';

/** Returns the Problems of a YAML file of resources. */
export type Check = (text: string) => readonly Problem[];

/** Fields of a Mapping without which it gives nothing more away. */
const SPARE: readonly string[] = ['add_response_headers', 'cors', 'load_balancer', 'retry_policy'];

/** Routes of Gateway API that can answer 500. */
const ROUTES: readonly string[] = ['GRPCRoute', 'HTTPRoute'];

/**
 * Makes a document one that `gateway validate` accepts. Values of others may break our rules. A
 * field that only adds something is left out. For any other the Mapping, Host or route is closed. A
 * FilterPolicy stays as it is, since a rejected one closes what it covers.
 */
export function makeSound(document: ImportedDocument, check: Check): Imported {
  const problems = errorsOf(document, check);
  if (problems.length === 0) return { documents: [document], remarks: [] };
  const fields = problems.map(({ field = '' }) => field.split(/[.[]/)[1] ?? '');
  const isSpare = fields.every(field => SPARE.includes(field));
  const instead = isSpare
    ? { ...document, spec: onlyFields(document.spec, field => !fields.includes(field)) }
    : closedInstead(document);
  const isWritten =
    instead === document || (instead !== undefined && errorsOf(instead, check).length === 0);
  const documents = isWritten ? [instead] : [];
  const effect = isSpare || documents.length === 0 ? 'dropped' : 'closed';
  return { documents, remarks: problems.map(problem => remarkOf(document, problem, effect)) };
}

function remarkOf({ from, kind, metadata }: ImportedDocument, problem: Problem, effect: Effect) {
  const { field = '', message } = problem;
  const text = `${field} of the ${kind} ${metadata.name} would be wrong: ${message}`;
  return { effect, path: ['metadata', 'name'], message: text, object: from };
}

function errorsOf(document: ImportedDocument, check: Check): readonly Problem[] {
  return check(toYaml([document])).filter(({ severity }) => severity === 'error');
}

function onlyFields(spec: Fields, keeps: (field: string) => boolean): Fields {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => keeps(field)));
}

/** A shadow answers nobody. Closed, it would close what it copies. */
function closedInstead(document: ImportedDocument): ImportedDocument | undefined {
  const { kind, spec } = document;
  if (kind === 'FilterPolicy') return document;
  if (kind === 'Mapping') {
    if (spec.shadow === true) return undefined;
    const match = onlyFields(spec, field => MATCH_FIELDS.includes(field));
    return { ...document, spec: { ...match, service: 'closed', closed: true } };
  }
  if (ROUTES.includes(kind)) {
    const rules = listAt(spec, 'rules').map(rule =>
      onlyFields(fieldsAt(rule), field => field === 'name' || field === 'matches'),
    );
    return { ...document, spec: { ...spec, rules } };
  }
  if (kind !== 'Host') return undefined;
  const requestPolicy = { insecure: { action: 'Reject' } };
  return { ...document, spec: { hostname: spec.hostname, requestPolicy } };
}
