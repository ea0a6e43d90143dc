import { readConfig as readControlPlane } from '#controlplane/config.ts';
import { readConfig as readExtAuthz } from '#ext-authz/config.ts';
import type { Environment } from '#process/environment.ts';
import { readConfig as readRateLimit } from '#ratelimit-service/config.ts';
import { readConfig as readSds } from '#sds/config.ts';
import { readConfig as readUserService } from '#user-service/config.ts';

const READERS: Readonly<Record<string, (env: Environment) => object>> = {
  controlplane: env => readControlPlane(env),
  sds: env => readSds(env),
  'ratelimit-service': env => readRateLimit(env),
  'ext-authz': env => readExtAuthz(env),
  'user-service': env => readUserService(env),
};

/**
 * Reads the variables of a service as it does when it starts.
 * @throws an Error that names the service, the variable and what that should be
 */
export function checkVariables(service: string, env: Environment): void {
  try {
    READERS[service]?.(env);
  } catch (error) {
    throw new Error(`${service}: ${error instanceof Error ? error.message : error}`);
  }
}
