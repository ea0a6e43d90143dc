import { Option } from 'commander';
import { escapeControls } from '#controlplane/rollout/problems.ts';
import type { Status } from '#controlplane/status/status.ts';
import { portsAt } from '#launcher/ports.ts';
import { isFields } from '#resources/words/fields.ts';
import { isLoopback } from '#resources/words/origin.ts';
import { HTTP, parseAddress } from './built-in-addresses.ts';
import { parsePortOffset } from './port-offset.ts';

/** The options that locate a running control plane. */
export type WhereFlags = { readonly address?: string; readonly portOffset: number };

export const ADDRESS = new Option(
  '--address <host:port>',
  `HTTP address of the control plane (default: ${HTTP})`,
);

export const PORT_OFFSET = new Option(
  '--port-offset <number>',
  'the --port-offset that the gateway was started with',
)
  .argParser(parsePortOffset)
  .default(0);

/** Of commands that read files instead of asking a control plane. */
export const RESOURCES = new Option(
  '--resources <paths...>',
  'YAML files, or folders of them, in place of what is in force',
);

/** An answer about very many resources takes long. */
const LONGEST_WAIT_MS = 60_000;

type Question = RequestInit & {
  /** What the operator can do when no control plane answers. */
  readonly instead?: string;
  /** Statuses that carry an answer although they are no success. */
  readonly alsoAnswers?: readonly number[];
};

/** Asks a running control plane. Throws an Error with the remedy when none answers. */
export async function askControlPlane(
  { address = '', portOffset }: WhereFlags,
  path: string,
  { instead = '', alsoAnswers = [], ...init }: Question = {},
): Promise<Response> {
  const at = address === '' ? `127.0.0.1:${portsAt(portOffset).http}` : address;
  parseAddress('--address', at, HTTP);
  const signal = AbortSignal.timeout(LONGEST_WAIT_MS);
  const response = await fetch(`http://${at}${path}`, { ...init, signal }).catch(() => undefined);
  if (response === undefined)
    throw new Error(
      `no control plane answers at ${at}: start one with "npx tollwright up", or say with --address or --port-offset where it is${instead}`,
    );
  if (response.ok || alsoAnswers.includes(response.status)) return response;
  if (response.status === 404) throw anotherServer(at);
  const why = response.status === 413 ? ': it takes at most 16 MiB' : await reasonIn(response);
  throw new Error(`the control plane at ${at} answers ${response.status}${why}`);
}

/** What a control plane says is wrong, such as a name that it does not answer to. */
async function reasonIn(response: Response): Promise<string> {
  const answer: unknown = await response.json().catch(() => undefined);
  if (!isFields(answer) || typeof answer.error !== 'string') return '';
  return `: ${escapeControls(answer.error)}`;
}

/**
 * Throws an Error when a secret would go to another machine, since a control plane answers plain
 * HTTP. `secretIn` says what holds one. `instead` is another way to do the same.
 */
export function keepOnMachine(
  { address }: WhereFlags,
  secretIn: () => string | undefined,
  instead = '',
): void {
  if (address === undefined || isLoopback(parseAddress('--address', address, HTTP).host)) return;
  const secret = secretIn();
  if (secret === undefined) return;
  throw new Error(
    `${secret}, which would go to ${address} without encryption: forward the port of the control plane to this machine${instead}`,
  );
}

/** Returns whether what an answer holds is that of a control plane. */
type Recognise<Answer> = (answer: Partial<Answer>) => boolean;

/**
 * Returns the answer of a control plane. Throws an Error that says what is wrong with the question,
 * or that another server answers.
 */
export async function readAnswer<Answer extends object>(
  response: Response,
  recognise: Recognise<Answer>,
): Promise<Answer> {
  const answer: unknown = await response.json().catch(() => undefined);
  if (isFields(answer)) {
    if (typeof answer.error === 'string') throw new Error(answer.error);
    if (recognise(answer as Partial<Answer>)) return answer as Answer;
  }
  throw anotherServer(new URL(response.url).host);
}

/** Each port of the gateway and of its Envoys answers HTTP, so the wrong one answers 404. */
function anotherServer(at: string): Error {
  return new Error(
    `what answers at ${at} is not a control plane: say with --address or --port-offset where one serves HTTP, by default at ${HTTP}`,
  );
}

/** Asks a running control plane for its status. */
export async function askStatus(flags: WhereFlags): Promise<Status> {
  return await readAnswer<Status>(await askControlPlane(flags, '/status'), status =>
    [status.problems, status.proxies, status.resources].every(Array.isArray),
  );
}

/**
 * Asks a running control plane a question that files of `--resources` would answer, too. Throws an
 * Error that says what is wrong with the question.
 */
export async function askQuestion<Answer extends object>(
  flags: WhereFlags,
  path: string,
  question: object,
  recognise: Recognise<Answer>,
): Promise<Answer> {
  const response = await askControlPlane(flags, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(question),
    instead: ', or name files with --resources',
    alsoAnswers: [400, 503],
  });
  return await readAnswer(response, recognise);
}
