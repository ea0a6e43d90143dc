import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import type { EnvoyChange } from './difference.ts';
import { partsOf, withoutValues } from './envoy-parts.ts';

/** Configuration by node group. */
export type ByGroup = ReadonlyMap<string, Compiled>;

/** Texts that differ in more lines than this are shown one after the other. */
const MOST_EDITS = 1_000;

/** Equal routes beside those that changed. They give the lines around. */
const NEIGHBOURS = 1;

/** Returns what changes in the configuration of each node group, as unified diffs of YAML. */
export function envoyChanges(before: ByGroup, after: ByGroup): readonly EnvoyChange[] {
  const groups = [...new Set([...before.keys(), ...after.keys()])].sort();
  return groups.flatMap(group => groupChanges(group, before.get(group), after.get(group)));
}

function groupChanges(
  group: string,
  before: Compiled | undefined,
  after: Compiled | undefined,
): readonly EnvoyChange[] {
  const was = before === undefined ? new Map<string, JsonObject>() : partsOf(before);
  const is = after === undefined ? new Map<string, JsonObject>() : partsOf(after);
  const names = [...new Set([...was.keys(), ...is.keys()])].sort();
  return names.flatMap(name => {
    const [old, next] = [was.get(name), is.get(name)];
    if (isSame(old, next)) return [];
    return [{ group, resource: name, patch: patchOf(`${group}/${name}`, old, next) }];
  });
}

function patchOf(name: string, before: JsonObject | undefined, after: JsonObject | undefined) {
  const [old, next] = onlyChanged(before, after);
  const [was, is] = [textOf(old), textOf(next)];
  const names = [
    before === undefined ? '/dev/null' : name,
    after === undefined ? '/dev/null' : name,
  ];
  const [from = '', to = ''] = names;
  if (was === is) return `--- ${from}\n+++ ${to}\n# only values that are not shown differ\n`;
  const settings = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(from, to, was, is, '', '', {
    ...settings,
    maxEditLength: MOST_EDITS,
  });
  return patch ?? `--- ${from}\n+++ ${to}\n${marked('-', was)}${marked('+', is)}`;
}

function textOf(json: JsonObject | undefined): string {
  return json === undefined ? '' : toEnvoyYaml(withoutValues(json) as JsonObject);
}

function marked(sign: string, text: string): string {
  return text.replace(/^(?=.)/gm, sign);
}

/** Leaves out the first and last routes where they are equal. There may be very many. */
function onlyChanged(before: JsonObject | undefined, after: JsonObject | undefined) {
  const [old, next] = [routesOf(before), routesOf(after)];
  if (old === undefined || next === undefined) return [before, after] as const;
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && isSame(old[start], next[start])) start++;
  let end = 0;
  while (end < shorter - start && isSame(old.at(-1 - end), next.at(-1 - end))) end++;
  const from = Math.max(0, start - NEIGHBOURS);
  const cut = (routes: readonly Json[]) =>
    routes.slice(from, routes.length - Math.max(0, end - NEIGHBOURS));
  return [
    { ...before, routes: cut(old) },
    { ...after, routes: cut(next) },
  ] as const;
}

function routesOf(json: JsonObject | undefined): readonly Json[] | undefined {
  const routes = json?.routes;
  return Array.isArray(routes) ? routes : undefined;
}

/** What did not change is mostly the very same object. */
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (!isJsonObject(a ?? null) || !isJsonObject(b ?? null)) return false;
  return JSON.stringify(a) === JSON.stringify(b);
}
