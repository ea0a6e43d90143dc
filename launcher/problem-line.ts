/** Envoy's log: [time][thread][level][component] [source] message. */
const ENVOY = /^\[[\d .:-]+\]\[\d+\]\[(warning|error|critical)\]\[[^\]]*\] (?:\[[^\]]*\] )?(.*)$/;

const LEVELS: readonly [number, string][] = [
  [60, 'fatal'],
  [50, 'error'],
  [40, 'warning'],
];

/**
 * A stranger's words, such as the name of a refused client, may be among those of a line: they move
 * no cursor.
 */
const CONTROLS = /\p{Cc}/gu;

/**
 * What an operator should hear of a line of a process's log: the text of Envoy's warnings and
 * errors and of JSON lines (pino) of level 40 and above, led by the level; undefined for all else,
 * also for what a service has `reported`: the control plane tells of it, with file and line.
 */
export function problemInLine(line: string): string | undefined {
  const [, level, message] = ENVOY.exec(line) ?? [];
  if (level !== undefined) return `${level}: ${message}`;
  return line.startsWith('{') ? problemInJson(line) : undefined;
}

/** Returns what a service of ours wants on the console though it is no problem, or undefined. */
export function noticeInLine(line: string): string | undefined {
  const entry = line.startsWith('{') ? parse(line) : undefined;
  if (entry?.console !== true || typeof entry.msg !== 'string') return undefined;
  return entry.msg.replace(CONTROLS, ' ');
}

function problemInJson(line: string): string | undefined {
  const entry = parse(line);
  const level = Number(entry?.level);
  const name = LEVELS.find(([least]) => level >= least)?.[1];
  if (entry === undefined || name === undefined || entry.reported === true) return undefined;
  const cause = causeOf(entry);
  const message = typeof entry.msg === 'string' ? entry.msg : '';
  const text = [message, message.includes(cause) ? '' : cause]
    .filter(part => part !== '')
    .join(': ');
  return `${name}: ${text.replace(CONTROLS, ' ')}`;
}

/** The first of the fields in which our services say why. */
function causeOf({ err, reason, error }: Record<string, unknown>): string {
  if (typeof err === 'object' && err !== null && 'message' in err) return String(err.message);
  return [reason, error].find(text => typeof text === 'string') ?? '';
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
