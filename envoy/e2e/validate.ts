import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { envoyBinary } from '#envoy/binary.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';

/**
 * Validates a bootstrap by a real `envoy --mode validate`.
 * @returns its complaint, or undefined when it accepts the bootstrap
 */
export async function validate(bootstrap: object): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'envoy-validate-'));
  const config = join(folder, 'bootstrap.yaml');
  try {
    await writeFile(config, toEnvoyYaml(bootstrap));
    await promisify(execFile)(await envoyBinary(), [
      '--mode',
      'validate',
      '-c',
      config,
      '-l',
      'error',
    ]);
    return undefined;
  } catch (error) {
    return (error as { stderr?: string }).stderr || String(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
