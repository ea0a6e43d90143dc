import { dirname, join, matchesGlob } from 'node:path';
import { IMPORT_RULES, type ImportRow } from './import-rules.ts';

/** Imports and exports of values and of types, at any width. */
const STATIC = /^\s*(?:import|export)\b(?:[^'";=]*?\bfrom)?\s*(['"])([^'"\n]+)\1/gm;
const DYNAMIC = /\b(?:import|require)\(\s*(['"`])([^'"`]+)\1/g;

/**
 * Returns a sentence for each import of a source that its row of the table does not allow. The path
 * is below the root.
 */
export function forbiddenImports(path: string, text: string): readonly string[] {
  const row = rowOf(path);
  if (row === undefined) return [];
  return importsOf(text)
    .filter(specifier => !isAllowed(row, path, specifier))
    .map(
      specifier =>
        `${path} imports "${specifier}", but ${row.folder} may import ${allowed(row)} (lint/import-rules.ts)`,
    );
}

/** Returns the row of the closest folder that has one. */
function rowOf(path: string): ImportRow | undefined {
  const isBelow = ({ folder }: ImportRow) => path.startsWith(`${folder}/`);
  const [row] = IMPORT_RULES.filter(isBelow).sort((a, b) => b.folder.length - a.folder.length);
  if (row === undefined || path.endsWith('.test.ts')) return undefined;
  const free = [`${row.folder}/**/testing/**`, `${row.folder}/e2e/**`];
  return free.some(pattern => matchesGlob(path, pattern)) ? undefined : row;
}

function importsOf(text: string): readonly string[] {
  return [STATIC, DYNAMIC].flatMap(form =>
    [...text.matchAll(form)].map(([, , specifier = '']) => specifier),
  );
}

function isAllowed(row: ImportRow, path: string, specifier: string): boolean {
  if (specifier.startsWith('.')) return staysIn(row, path, specifier);
  if (specifier.startsWith('#')) return row.ours.some(place => isIn(place, specifier.slice(1)));
  if (specifier.startsWith('node:')) return row.node;
  return row.packages.some(name => isIn(name, specifier));
}

/** Whether a relative import stays in the row's folder, and goes up by one folder at most. */
function staysIn({ folder }: ImportRow, path: string, specifier: string): boolean {
  const isFar = specifier.startsWith('../../');
  return !isFar && join(dirname(path), specifier).startsWith(`${folder}/`);
}

function isIn(place: string, path: string): boolean {
  return path === place || (!place.endsWith('.ts') && path.startsWith(`${place}/`));
}

function allowed(row: ImportRow): string {
  const names = [
    ...row.ours.map(folder => `#${folder}`),
    ...row.packages,
    ...(row.node ? ['node:*'] : []),
  ];
  return names.length === 0 ? 'nothing but its own files' : names.join(', ');
}
