import { createHash } from 'node:crypto';
import { isAbsolute, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Location, Log, Result } from 'sarif';
import { escapeControls } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';
import manifest from '../package.json' with { type: 'json' };
import { shorten } from './shorten.ts';

/**
 * Returns a log in SARIF 2.1.0 (Static Analysis Results Interchange Format, OASIS). Rules are named
 * after the kind and the field, since these stay the same while texts change.
 */
export function toSarif(problems: readonly Problem[]): string {
  const rules = [...new Set(problems.map(ruleOf))].sort();
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'gateway validate',
            version: manifest.version,
            rules: rules.map(id => ({ id, shortDescription: { text: `A mistake in ${id}` } })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: problems.map(problem => resultOf(problem, rules)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function resultOf(problem: Problem, rules: readonly string[]): Result {
  const { severity, field, message, file } = problem;
  const text = escapeControls(field === undefined ? message : `${field}: ${message}`);
  return {
    ruleId: ruleOf(problem),
    ruleIndex: rules.indexOf(ruleOf(problem)),
    level: severity,
    message: { text },
    ...(file === '' ? {} : { locations: [locationOf(problem)] }),
    partialFingerprints: { 'problem/v1': fingerprintOf(problem) },
  };
}

/** `Mapping/spec.service`, without indexes. */
function ruleOf({ kind, field = '' }: Problem): string {
  const parts = [kind, field.replace(/\[\d+\]/g, '[]')].filter(part => part !== '');
  return parts.length === 0 ? 'document' : escapeControls(parts.join('/'));
}

function locationOf({ file, line, kind, namespace, name }: Problem): Location {
  const id = [kind, namespace, name].filter(part => part !== '').join('/');
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(file) },
      ...(line === 0 ? {} : { region: { startLine: line } }),
    },
    ...(id === ''
      ? {}
      : { logicalLocations: [{ fullyQualifiedName: escapeControls(id), kind: 'resource' }] }),
  };
}

/** Returns a reference relative to the working directory, which is the repository in a workflow. */
function uriOf(file: string): string {
  const short = shorten(file);
  if (isAbsolute(short)) return pathToFileURL(short).href;
  return short.split(sep).map(encodeURIComponent).join('/');
}

/** Does not depend on the line, so that a moved resource is not a new finding. */
function fingerprintOf({ severity, kind, namespace, name, field = '', message }: Problem): string {
  const text = JSON.stringify([severity, kind, namespace, name, field, message]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
