import { join } from 'node:path';
import { startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { checkRequest } from '../oauth2/check-request.ts';
import { startOursOn } from '../oauth2/check-service.ts';
import { logInAll } from '../oauth2/login.ts';
import { pageOf, siteYaml } from '../oauth2/site.ts';
import { type Kind, startDecisionService } from '../ratelimit/decision-service.ts';
import { startLimitador as startLimitadorService } from '../ratelimit/limitador.ts';
import { type DecisionService, type Server, startServiceProcess } from '../service-process.ts';
import { CHECK_PATH, RATE_LIMIT_PATH, rateLimitMessage } from './calls.ts';

/** A service, its method, and messages that it answers with a decision. */
export type Decider = DecisionService & {
  readonly path: string;
  readonly messages: readonly Uint8Array[];
};

const MAIN = join(import.meta.dirname, 'decision-process.ts');

/**
 * Starts our rate limit service with counters in memory, each of which is dropped after a `unit`.
 */
export async function startRateLimit(
  server: Server,
  unit: 'SECOND' | 'MINUTE' = 'MINUTE',
): Promise<Decider> {
  return rateLimitDecider(await startServiceProcess([MAIN, server, 'ratelimit', unit]));
}

/** Starts another rate limit service, with 100 limits. */
export async function startOther(kind: Kind): Promise<Decider> {
  return rateLimitDecider(await startDecisionService(kind, 100));
}

/** Starts Limitador, built before, with its counters in memory. */
export async function startLimitador(): Promise<Decider> {
  return rateLimitDecider(await startLimitadorService());
}

/**
 * Starts our ext-authz with so many sessions in its file. The messages have the cookies of one
 * session after the other.
 */
export async function startCheck(server: Server, sessions = 1): Promise<Decider> {
  const provider = await startHostileProvider();
  const { records, stop, ...service } = await startOursOn(server, siteYaml(provider.issuer, 1));
  const cookies = await logInAll(records, provider, sessions);
  const stopAll = async () => {
    await stop();
    await provider.close();
  };
  const messages = cookies.map(cookie => checkRequest(pageOf(1), cookie));
  return { ...service, messages, path: CHECK_PATH, stop: stopAll };
}

function rateLimitDecider(service: DecisionService): Decider {
  return { ...service, path: RATE_LIMIT_PATH, messages: [rateLimitMessage()] };
}
