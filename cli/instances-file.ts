import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseInstancesFile } from '../sds/instances/parse-instances-file.ts';

/**
 * Returns the absolute path of an operator's instances file. Throws an Error that says what is
 * wrong in it. A running gateway would keep what it read last, but a starting one has nothing yet.
 */
export function instancesFile(path: string): string {
  const file = resolve(path);
  const [problem] = parseInstancesFile(read(file)).problems;
  if (problem === undefined) return file;
  throw new Error(`${file}:${problem.line}: ${problem.message}`);
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
