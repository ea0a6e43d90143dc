import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const SUITE = join(import.meta.dirname, 'suite-go');
const MODULE = 'sigs.k8s.io/gateway-api';

/**
 * Returns the folder of the release's CRDs and admission policy, in the module that the suite was
 * built with. They are those of the experimental channel, which has every field that the suite
 * uses. Throws when Go cannot fetch the module.
 */
export function gatewayApiCrds(): string {
  const go = (...args: readonly string[]) =>
    execFileSync('go', args, {
      cwd: SUITE,
      encoding: 'utf8',
      env: { ...process.env, GOTOOLCHAIN: 'auto' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  go('mod', 'download', MODULE);
  return join(go('list', '-m', '-f', '{{.Dir}}', MODULE), 'config', 'crd', 'experimental');
}
