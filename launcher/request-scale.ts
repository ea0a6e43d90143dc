import http, { type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { controlSocket } from './state-folder.ts';

/** What a running gateway reports while it scales. The last step has the number of instances. */
export type ScaleStep = { readonly progress?: string; readonly instances?: number };

/**
 * Asks the gateway that runs on the state folder for `instances` instances, and reports each step.
 * Rejects with an Error for the operator when none runs there or it fails.
 */
export async function requestScale(
  state: string,
  instances: number,
  told: (step: ScaleStep) => void,
): Promise<void> {
  const response = await send(state, JSON.stringify({ instances }));
  let done = false;
  for await (const line of createInterface({ input: response })) {
    const step: ScaleStep & { error?: string } = JSON.parse(line);
    if (step.error !== undefined) throw new Error(step.error);
    told(step);
    done = step.instances !== undefined;
  }
  if (!done) throw new Error('The gateway stopped before it was done');
}

function send(state: string, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      socketPath: controlSocket(state),
      method: 'PUT',
      path: '/instances',
      agent: false,
    });
    request.on('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const absent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      const nobody = `No gateway runs on the state folder ${state}: start one with "npx tollwright up", or name its folder with --state`;
      reject(new Error(absent ? nobody : `Cannot ask the running gateway: ${error.message}`));
    });
    request.end(body);
  });
}
