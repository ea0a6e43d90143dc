import { accessSync, constants } from 'node:fs';
import type { Logger } from 'pino';
import type { Environment } from '#process/environment.ts';
import { readTraceSettings } from './trace-settings.ts';
import type { Traces } from './traces.ts';

/**
 * Opens the traces of `service` when a variable of OpenTelemetry asks for them. A mistake there is
 * logged, and the service goes on without traces, because they decide nothing.
 * @returns undefined when traces are off. Then OpenTelemetry's code is not loaded.
 */
export async function openTraces(
  service: string,
  env: Environment,
  log: Logger,
): Promise<Traces | undefined> {
  try {
    const settings = readTraceSettings(env);
    if (settings === undefined) return undefined;
    for (const [variable, file] of settings.files) checkReadable(variable, file);
    const { openTracer } = await import('./open-tracer.ts');
    const traces = openTracer(service, settings, log);
    log.info('requests are traced');
    return traces;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reason }, 'no traces are sent');
    return undefined;
  }
}

function checkReadable(variable: string, file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new Error(`${variable}: this file cannot be read`);
  }
}
