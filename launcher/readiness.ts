import { tryHttpRequest } from './http-request.ts';
import { instanceName, type Layout, loopback } from './parts.ts';
import type { System } from './system.ts';

/** The path that the sample service is asked for through the edge. */
const HEALTH_PATH = '/user/health';

export type ReadinessOptions = {
  readonly layout: Layout;
  readonly system: System;
};

/**
 * Returns why the system does not serve yet, and names the part. The system serves when every
 * process is ready, the control plane serves its resources, and the edge has its listener. In the
 * demo every instance must also have answered through the edge. What the control plane says goes
 * first, since the other processes wait for its resources.
 * @returns undefined when it serves
 */
export async function whyNotReady(options: ReadinessOptions): Promise<string | undefined> {
  const address = loopback(options.layout.ports.http);
  const answer = await tryHttpRequest({ address, path: '/readyz' });
  if (answer !== undefined && answer.status !== 200) return `controlplane: ${answer.body.trim()}`;
  const waiting = whichChild(options);
  if (waiting !== undefined) return waiting;
  return answer === undefined
    ? `controlplane: no answer at ${address}`
    : await whichInstance(options);
}

function whichChild({ layout, system }: ReadinessOptions): string | undefined {
  const waiting = system.children.find(child => !child.isReady);
  if (waiting !== undefined) {
    return `${waiting.part.name} is ${waiting.phase} (log: ${layout.state.logs}/${waiting.part.name}.log)`;
  }
  return system.children.some(({ part }) => part.name === 'edge')
    ? undefined
    : 'the edge is not started';
}

/**
 * The edge takes the instances in turn. So as many requests as there are instances reach each of
 * them once it knows them all.
 */
async function whichInstance({ layout, system }: ReadinessOptions): Promise<string | undefined> {
  if (!layout.demo) return undefined;
  const missing = new Set(system.fleet.instances.map(({ number }) => instanceName(number)));
  for (let request = missing.size; request > 0; request--) {
    const answer = await tryHttpRequest({
      address: loopback(layout.ports.edge),
      path: HEALTH_PATH,
    });
    if (answer?.status !== 200)
      return `edge: ${HEALTH_PATH} is answered ${answer?.status ?? 'not at all'}`;
    missing.delete(hostnameIn(answer.body));
  }
  const [first] = missing;
  return first === undefined ? undefined : `${first} does not answer through the edge`;
}

/** A demo that was edited may lead to any service. */
function hostnameIn(body: string): string {
  try {
    return String(JSON.parse(body).hostname);
  } catch {
    return '';
  }
}
