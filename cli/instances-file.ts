import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { keptFileContent } from '../sds/instances/kept-file-content.ts';
import { parseInstancesFile } from '../sds/instances/parse-instances-file.ts';

/**
 * Returns the absolute path of an operator's instances file. Throws an Error that says what is
 * wrong in it, unless the state folder has what an earlier run read there. The gateway starts with
 * that, as a running one keeps what it read last, and the discovery service says what is wrong.
 */
export function instancesFile(path: string, state: string): string {
  const file = resolve(path);
  const isKept = keptFileContent(resolve(state), file, { error() {} }).read() !== undefined;
  if (!isKept) check(file);
  return file;
}

function check(file: string): void {
  const [problem] = parseInstancesFile(read(file)).problems;
  if (problem !== undefined) throw new Error(`${file}:${problem.line}: ${problem.message}`);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Cannot read the services in ${file}: ${why}. Name another file with --services`,
    );
  }
}
