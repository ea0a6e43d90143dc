import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { compile } from '#controlplane/compile/compile.ts';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { randomDocuments } from '#controlplane/compile/testing/random-documents.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { LISTENER } from '#protos/type-url.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'controlplane', 'compile', 'testdata');

/**
 * Returns what the compiler's golden files compile to, where it has a listener, by `<case>.<node
 * group>`.
 */
export function goldenCases(): ReadonlyMap<string, Compiled> {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.in.yaml'));
  return new Map(
    files.flatMap(file =>
      compileEach(file).filter(([, { resources }]) => (resources.get(LISTENER) ?? []).length > 0),
    ),
  );
}

function compileEach(file: string): [string, Compiled][] {
  const { resources } = resourceSetOf(readFileSync(join(FOLDER, file), 'utf8'), file);
  const options = compileOptions({});
  return nodeGroups(resources).map(group => [
    `${file.slice(0, -'.in.yaml'.length)}.${group}`,
    compile(resources, group, options),
  ]);
}

/** Compiles random resources for the edge. They are as odd as the parser accepts. */
export function randomCase(seed: number): Compiled {
  const documents = randomDocuments(seed, 100).map(document => stringify(document));
  return compile(resourceSetOf(documents.join('---\n')).resources, 'edge', compileOptions({}));
}
