import { IMPORT_RULES, type ImportRow, ROOMS } from './import-rules.ts';

type Override = {
  includes: string[];
  linter: { rules: { style: { noRestrictedImports: object } } };
};

/** The part of biome.json that is not generated. */
const BASE = {
  $schema: './node_modules/@biomejs/biome/configuration_schema.json',
  files: {
    includes: [
      '**/*.ts',
      '**/*.cjs',
      '**/*.json',
      '!**/node_modules',
      '!**/.gateway',
      '!dist',
      '!package-lock.json',
      '!protos/envoy-api/*.json',
      '!docs/schemas/*.json',
    ],
  },
  formatter: { indentStyle: 'space', indentWidth: 2, lineWidth: 100 },
  javascript: {
    formatter: { quoteStyle: 'single', semicolons: 'always', arrowParentheses: 'asNeeded' },
  },
  linter: {
    rules: {
      preset: 'recommended',
      suspicious: { noImportCycles: 'error', noExplicitAny: 'error' },
      style: { noNonNullAssertion: 'error', noDefaultExport: 'error', useImportType: 'error' },
    },
  },
};

/** Returns the content of biome.json: the base, and for each folder what its files may import. */
export function biomeConfig(): object {
  return { ...BASE, overrides: IMPORT_RULES.flatMap(overridesOf) };
}

/**
 * Returns the overrides of a row. Biome's overrides replace each other, so a file must be in only
 * one. The top of a folder and the folders below it differ in `../`.
 */
function overridesOf(row: ImportRow): Override[] {
  const nested = IMPORT_RULES.filter(other => other.folder.startsWith(`${row.folder}/`));
  const not = [
    ...nested.map(other => `!${other.folder}/**`),
    `!${row.folder}/**/*.test.ts`,
    `!${row.folder}/**/testing/**`,
    `!${row.folder}/e2e/**`,
  ];
  return [
    override(row, [`${row.folder}/*.ts`, ...not], '../**'),
    override(row, [`${row.folder}/*/**/*.ts`, ...not], '../../**'),
  ];
}

function override(row: ImportRow, includes: string[], outside: string): Override {
  const message = `${row.folder} may import ${allowed(row)} (lint/import-rules.ts)`;
  const group = [
    ...['**', '!./**', '!../**', outside],
    ...[
      ...row.ours.map(place => `!#${aliasOf(place)}`),
      ...row.packages.flatMap(name => [`!${name}`, `!${name}/**`]),
    ],
    ...(row.node ? ['!node:*', '!node:*/**'] : []),
  ];
  const options = { patterns: [{ group, message }] };
  return {
    includes,
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options } } } },
  };
}

function allowed(row: ImportRow): string {
  const names = [
    ...row.ours.map(folder => `#${folder}`),
    ...row.packages,
    ...(row.node ? ['node:*'] : []),
  ];
  return names.length === 0 ? 'nothing but its own files' : names.join(', ');
}

/** Returns the alias of one file, or of all of a folder. */
function aliasOf(place: string): string {
  return place.endsWith('.ts') ? place : `${place}/**`;
}

/** Returns the rooms that a row must not reach by alias. */
export function forbiddenAliases(row: ImportRow): string[] {
  const allowed = (room: string) =>
    row.ours.some(
      place => place === room || room.startsWith(`${place}/`) || place.startsWith(`${room}/`),
    );
  return ROOMS.filter(room => room !== row.folder && !allowed(room));
}
