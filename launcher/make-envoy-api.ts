import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { envoyBinary } from '#envoy/binary.ts';
import { API_PATH, readApi } from '#protos/envoy-api/api-file.ts';
import { compileApi } from '#protos/envoy-api/compile-api.ts';
import { embeddedFiles } from '#protos/envoy-api/embedded-files.ts';
import { ENVOY_FILES } from '#protos/envoy-api/envoy-files.ts';

/**
 * Makes the file with Envoy's API out of our Envoy, unless it exists. Every start and `npm test`
 * call this. By hand run `npx node launcher/make-envoy-api.ts [path of an Envoy]`.
 */
export async function makeEnvoyApi(say: (line: string) => void): Promise<void> {
  if (readApi() === undefined) writeApi(await envoyBinary({ say }));
}

/**
 * Writes the API of the Envoy in `binary`. Throws an Error of one sentence when it lacks a part.
 */
export function writeApi(binary: string, path: string = API_PATH): void {
  const draft = `${path}.${process.pid}`;
  try {
    const api = compileApi(embeddedFiles(readFileSync(binary)), ENVOY_FILES);
    for (const old of globSync('*.json', { cwd: dirname(path) })) rmSync(join(dirname(path), old));
    writeFileSync(draft, JSON.stringify(api));
    renameSync(draft, path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot make Envoy's API out of ${binary}: ${why}`);
  }
}

if (import.meta.main) {
  const say = (line: string) => void process.stderr.write(`gateway: ${line}\n`);
  writeApi(process.argv[2] ?? (await envoyBinary({ say })));
}
