import { setTimeout as delay } from 'node:timers/promises';
import type { ApiRequest, Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';

const RETRY_MS = 500;
const TOO_MANY = 429;
const SERVER_ERROR = 500;

/**
 * Returns the API of a cluster, whose calls are sent again until it has answered, as a kubelet
 * sends them. A busy API may not answer within the time of a call. A call that is sent when
 * `closed` aborts fails.
 */
export function patientCluster(cluster: Cluster, closed: AbortSignal): Cluster {
  const call = async (request: ApiRequest) => {
    for (;;) {
      const answer = await cluster.call(request).catch((error: unknown) => {
        if (error instanceof ClusterError && !closed.aborted) return undefined;
        throw error;
      });
      if (answer !== undefined && !isBusy(answer.status)) return answer;
      await delay(answer?.retryAfterMs ?? RETRY_MS, undefined, { signal: closed });
    }
  };
  return { ...cluster, call };
}

function isBusy(status: number): boolean {
  return status === TOO_MANY || status >= SERVER_ERROR;
}
