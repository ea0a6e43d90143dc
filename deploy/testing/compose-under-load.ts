// Runs commands of Docker Compose while requests go through the edge, and prints the results. Every
// 20 ms there is a GET, and every 500 ms a PUT whose body takes 2 s. The system must be up. Each
// argument is one step: npx node deploy/testing/compose-under-load.ts 'restart user-service-1'
// 'stop edge'
import { execFile } from 'node:child_process';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROOT } from './compose-file.ts';

const EDGE = 'http://127.0.0.1:8080/user';
/**
 * Its password is missing. The service reads all of it and answers 400, without the work of a hash.
 */
const BODY = JSON.stringify({ fullname: 'Ada Lovelace' });
const UPLOAD_MS = 2_000;
/** Before a step and after it, in ms. */
const AROUND_MS = 5_000;
const GIVE_UP_MS = 60_000;

type Answer = { readonly outcome: string; readonly began: number; readonly ended: number };

function get(agent: http.Agent): Promise<Answer> {
  return ask('GET', agent, `${EDGE}/health`, request => request.end());
}

/** It is in flight for a while, and not safe to repeat. */
function put(agent: http.Agent): Promise<Answer> {
  return ask('PUT', agent, `${EDGE}/ada`, request => {
    request.setHeader('content-type', 'application/json').setHeader('content-length', BODY.length);
    request.write(BODY.slice(0, 10));
    setTimeout(() => request.end(BODY.slice(10)), UPLOAD_MS);
  });
}

function ask(
  method: string,
  agent: http.Agent,
  url: string,
  send: (request: http.ClientRequest) => void,
) {
  const began = performance.now();
  return new Promise<Answer>(resolve => {
    const end = (outcome: string) =>
      resolve({ outcome: `${method} ${outcome}`, began, ended: performance.now() });
    const request = http.request(url, { method, agent, timeout: GIVE_UP_MS }, response => {
      response.resume().on('end', () => end(`${response.statusCode}`));
      response.on('error', ({ message }) => end(message));
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', ({ message }) =>
      end(`${request.reusedSocket ? 'on a kept connection ' : ''}${message}`),
    );
    send(request);
  });
}

async function underLoad(work: () => Promise<unknown>): Promise<readonly Answer[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const asked: Promise<Answer>[] = [];
  const clocks = [
    setInterval(() => asked.push(get(agent)), 20),
    setInterval(() => asked.push(put(agent)), 500),
  ];
  await sleep(AROUND_MS);
  await work();
  await sleep(AROUND_MS);
  for (const clock of clocks) clearInterval(clock);
  const answers = await Promise.all(asked);
  agent.destroy();
  return answers;
}

function report(step: string, at: number, took: number, answers: readonly Answer[]): void {
  const slowest = Math.max(...answers.map(({ began, ended }) => ended - began));
  const inFlight = answers.filter(({ began, ended }) => began < at && ended > at);
  const lost = inFlight.filter(({ outcome }) => !/ [24]..$/.test(outcome));
  console.log(
    `${step}: took ${Math.round(took)} ms, the slowest request ${Math.round(slowest)} ms.`,
  );
  console.log(`  Of ${inFlight.length} in flight when it began ${lost.length} were lost.`);
  const outcomes = Object.entries(Object.groupBy(answers, ({ outcome }) => outcome));
  for (const [outcome, those = []] of outcomes) console.log(`  ${those.length} ${outcome}`);
}

for (const step of process.argv.slice(2)) {
  let at = 0;
  let took = 0;
  const answers = await underLoad(async () => {
    at = performance.now();
    await promisify(execFile)('sh', ['-c', `docker compose ${step}`], { cwd: ROOT });
    took = performance.now() - at;
  });
  report(step, at, took, answers);
}
