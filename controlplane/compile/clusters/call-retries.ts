import type { JsonObject } from '#protos/json.ts';
import { ANOTHER_HOST } from '../another-host.ts';

/**
 * One immediate retry, on another address, for calls of a proxy that no service has seen. Others
 * could be counted twice. It stands in the cluster of the service. Envoy reads the policy of a call
 * again for each call, which took 8 % of what a limited request costs it [measured].
 */
export const CALL_RETRIES: JsonObject = {
  retry_on: 'connect-failure,refused-stream,reset-before-request',
  num_retries: 1,
  retry_back_off: { base_interval: '0.001s' },
  ...ANOTHER_HOST,
  host_selection_retry_max_attempts: '3',
};
