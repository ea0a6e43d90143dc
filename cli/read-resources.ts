import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '#controlplane/config.ts';
import type { FileContent } from '#resources/folder/file-content.ts';
import { readText } from '#resources/folder/file-text.ts';
import { reasonOf } from '#resources/folder/folder-listing.ts';
import { createFolderReader } from '#resources/folder/folder-reader.ts';
import { type Collected, collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import type { ParseOptions } from '#resources/parse/parse-options.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';

/**
 * Reads the resources of these files and folders, as the control plane would. Throws an Error that
 * names a path that is missing or unreadable.
 */
export function readResources(paths: readonly string[]): Collected {
  return collect(parseFiles(readFiles(paths)));
}

/** Parses files as a control plane with this environment does. */
export function parseFiles(files: ReadonlyMap<string, FileContent>): readonly ParsedFile[] {
  return createParser(parseOptions())(files);
}

/** Returns which documents a control plane with this environment reads. */
export function parseOptions(): ParseOptions {
  const { API_GROUPS, GATEWAY_ID } = process.env;
  const { apiGroups, gatewayId } = readConfig({ API_GROUPS, GATEWAY_ID });
  return { apiGroups, gatewayId };
}

/** Reads these files and folders. Throws an Error that names a path that is missing. */
export function readFiles(paths: readonly string[]): ReadonlyMap<string, FileContent> {
  return new Map(paths.flatMap(readPath));
}

function readPath(path: string): [string, FileContent][] {
  if (!statOf(path).isDirectory()) return [[path, readText(path)]];
  try {
    const { files } = createFolderReader(path)(false);
    return [...files].map(([file, content]) => [join(path, file), content]);
  } catch (error) {
    throw new Error(`${path}: cannot read this folder: ${reasonOf(error)}`);
  }
}

function statOf(path: string): Stats {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined) return stat;
  } catch (error) {
    throw new Error(`${path}: cannot read this: ${reasonOf(error)}`);
  }
  throw new Error(`${path}: there is no such file or folder`);
}
