/** Envoy's log: [time][thread][level][component] [source] message. */
const ENVOY = /^\[[\d .:-]+\]\[\d+\]\[(warning|error|critical)\]\[[^\]]*\] (?:\[[^\]]*\] )?(.*)$/s;

const LEVELS: readonly [number, string][] = [
  [60, 'fatal'],
  [50, 'error'],
  [40, 'warning'],
];

/**
 * A line may hold a stranger's words, such as the name of a refused client. They must not move the
 * cursor.
 */
const CONTROLS = /\p{Cc}/gu;

/**
 * Returns what an operator should see of a line of a process's log. That is the text of Envoy's
 * warnings and errors, and of JSON lines (pino) of level 40 and above, led by the level.
 * @returns undefined for all other lines. Also for what a service has `reported`, because the
 * control plane shows that with file and line.
 */
export function problemInLine(line: string): string | undefined {
  const [, level, message = ''] = ENVOY.exec(line) ?? [];
  if (level !== undefined) return `${level}: ${message.replace(CONTROLS, ' ')}`;
  return line.startsWith('{') ? problemInJson(line) : undefined;
}

/** Returns what a service of ours wants on the console although it is no problem, or undefined. */
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

/** Returns the first of the fields in which our services give the cause. */
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
