import * as z from 'zod';
import { isFields } from '#resources/words/fields.ts';
import { suggest } from '#resources/words/suggest.ts';
import { timerDuration } from '#resources/words/timer-duration.ts';

const MOST = 4_294_967_295;
const SHORTEST_MS = 100;

const percent = { form: 'an integer of percent from 0 to 100', schema: z.int().min(0).max(100) };
const count = { form: `an integer from 0 to ${MOST}`, schema: z.int().min(0).max(MOST) };
const time = {
  form: `a duration of ${SHORTEST_MS}ms or more, such as \`10s\``,
  schema: timerDuration.refine(ms => ms >= SHORTEST_MS),
};
const flag = { form: '`true` or `false`', schema: z.boolean() };

/** Envoy's `OutlierDetection`, each field by its name there. */
const FIELDS = {
  always_eject_one_host: flag,
  base_ejection_time: time,
  consecutive_5xx: count,
  consecutive_gateway_failure: count,
  consecutive_local_origin_failure: count,
  enforcing_consecutive_5xx: percent,
  enforcing_consecutive_gateway_failure: percent,
  enforcing_consecutive_local_origin_failure: percent,
  enforcing_failure_percentage: percent,
  enforcing_failure_percentage_local_origin: percent,
  enforcing_local_origin_success_rate: percent,
  enforcing_success_rate: percent,
  failure_percentage_minimum_hosts: count,
  failure_percentage_request_volume: count,
  failure_percentage_threshold: percent,
  interval: time,
  max_ejection_percent: percent,
  max_ejection_time: time,
  max_ejection_time_jitter: time,
  split_external_local_origin_errors: flag,
  success_rate_minimum_hosts: count,
  success_rate_request_volume: count,
  success_rate_stdev_factor: count,
  successful_active_health_check_uneject_host: flag,
} as const;

type Name = keyof typeof FIELDS;

/** Values by Envoy's names. Durations are milliseconds. */
export type OutlierDetection = {
  readonly [name in Name]?: z.output<(typeof FIELDS)[name]['schema']>;
};

/**
 * When an instance that fails requests gets none for a while. Ambassador writes it as JSON text.
 */
export const outlierDetection = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .meta({ form: "a map of fields of Envoy's `OutlierDetection`, or the same as JSON text" })
  .transform((written, context): OutlierDetection => {
    const fields = typeof written === 'string' ? parseJson(written) : written;
    const fail = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', message, path });
    if (fields === undefined) fail([], 'it is not the JSON text of an object');
    const found: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(fields ?? {})) {
      const path = typeof written === 'string' ? [] : [name];
      if (!Object.hasOwn(FIELDS, name)) {
        fail(path, `unknown field \`${name}\`${suggest(name, Object.keys(FIELDS))}`);
        continue;
      }
      if (value === null) continue;
      const { form, schema } = FIELDS[name as Name];
      const parsed = schema.safeParse(value);
      if (parsed.success) found[name] = parsed.data;
      else fail(path, `\`${name}\` must be ${form}`);
    }
    const { base_ejection_time: base = 0, max_ejection_time: most = base } =
      found as OutlierDetection;
    if (most < base) fail([], '`max_ejection_time` is shorter than `base_ejection_time`');
    return found;
  });

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
